"""The energy that a run gained."""

from __future__ import annotations

import numpy as np

from stiction.evidence.engines.trajectory import Trajectory, Vector
from stiction.evidence.engines.world import World


def calc_energy(world: World, run: Trajectory) -> Vector:
    """Returns kinetic energy, potential energy of gravity, and minus the work of constant forces,
    (n,) [J]."""
    energy = np.zeros(len(run.time))
    gravity = np.array(world.gravity)
    for i, body in enumerate(world.bodies):
        spin = rotate_back(run.quat[:, i], run.spin[:, i])
        kinetic = body.mass * (run.velocity[:, i] ** 2).sum(axis=1)
        kinetic += spin**2 @ np.array(body.inertia)
        load = body.mass * gravity + np.array(body.force)
        energy += 0.5 * kinetic - (run.pos[:, i] - np.array(body.pos)) @ load
    return energy


def calc_energy_gain(world: World, run: Trajectory) -> float:
    """Returns the largest rise of the energy from an earlier sample to a later one [J]; 0 if it never
    rises."""
    energy = calc_energy(world, run)
    return float(np.max(energy - np.minimum.accumulate(energy)))


def rotate_back(quat: Vector, v: Vector) -> Vector:
    """Returns world vectors in the frames of bodies, (n, 3)."""
    w, axis = quat[:, :1], -quat[:, 1:]
    t = 2 * np.cross(axis, v)
    return np.asarray(v + w * t + np.cross(axis, t))
