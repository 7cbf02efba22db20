"""A scene with a known answer, and a measurement of a run of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from stiction.evidence.engines.mjcf import make_mjcf
from stiction.evidence.engines.world import Trajectory, Vec, Vector, World


@dataclass(frozen=True)
class Measurement:
    """The measurements of a scene in a run."""

    value: float  # the measured quantity, in the scene's unit; NaN if it does not exist
    error: float  # the scene's relative error [-]; infinite if the value does not exist
    creep: float | None = None  # speed of what should rest [m/s], or None if nothing should rest


@dataclass(frozen=True)
class Scene:
    """A scene with a known answer."""

    name: str  # name on the command line and in files
    title: str  # a line for tables
    quantity: str  # the measured quantity with its unit
    error: str  # how the error is made relative
    exact: float  # the known answer, in the unit of the quantity
    make_world: Callable[[], World]  # returns the scene at its start
    steps: tuple[float, ...]  # time steps, the coarsest first [s]
    duration: float  # simulated time [s]
    # Measures the part of a complete run from `settle` on.
    measure: Callable[[Trajectory], Measurement]
    # Energy to which a gain of energy is compared [J]; None if the scene does not conserve or lose
    # energy.
    energy_scale: float | None
    # Time from which the scene measures [s]. Before it, contacts settle under the forces of
    # `make_forces`.
    settle: float = 0.0
    # Returns the forces of each step, (steps, bodies, 3), from the time step and the number of
    # steps, if they vary. From `settle` on they are those of the world, except in a scene without
    # an energy_scale.
    make_forces: Callable[[float, int], Vector] | None = None
    needs_field: bool = False  # True if only engines with pressure fields can run it
    derivation: str = ""  # of the exact answer, which the page prints

    def count_steps(self, time_step: float) -> int:
        """Returns the number of steps of a run."""
        return round(self.duration / time_step)

    def make_mjcf(self, time_step: float) -> str:
        """Returns the scene as MJCF with MuJoCo's default contact."""
        return make_mjcf(self.make_world(), time_step)


SETTLE = 0.25  # a time in which every engine's contacts settle [s]


def load_later(
    make_world: Callable[[], World], early: Mapping[str, Vec], settle: float = SETTLE
) -> Callable[[float, int], Vector]:
    """Returns a function that makes forces of steps: other forces [N] on some bodies until
    `settle` [s]. Engines differ in the first steps of a contact, and compliant ones sink in.
    Without this, a scene that rests would measure how an engine begins."""

    def make_forces(time_step: float, num_steps: int) -> Vector:
        world = make_world()
        forces = np.empty((num_steps, len(world.bodies), 3))
        forces[:] = [body.force for body in world.bodies]
        names = [body.name for body in world.bodies]
        for name, force in early.items():
            forces[: round(settle / time_step), names.index(name)] = force
        return forces

    return make_forces


def cut(run: Trajectory, start: float) -> Trajectory:
    """Returns the part of a run from a time on."""
    first = int(np.searchsorted(run.time, start - 1e-9))
    parts = (run.time, run.pos, run.quat, run.velocity, run.spin)
    return Trajectory(run.names, *(part[first:] for part in parts))


def calc_speed_at_end(time: Vector, x: Vector, share: float = 0.5) -> float:
    """Returns the mean speed over the last part of a run, from the displacement [unit of x / s]."""
    start = int(np.searchsorted(time, time[-1] - share * (time[-1] - time[0])))
    return float(abs(x[-1] - x[start]) / (time[-1] - time[start]))


def measure_distance(run: Trajectory, exact: float, rest_share: float | None = None) -> Measurement:
    """Measures how far the first body moves along x [mm], and its creep in its last part, at rest."""
    x = run.pos[:, 0, 0]
    distance = float(x[-1] - x[0])
    creep = None if rest_share is None else calc_speed_at_end(run.time, x, rest_share)
    return Measurement(1e3 * distance, abs(distance / exact - 1), creep)


def measure_drop(run: Trajectory, body: str, size: float) -> Measurement:
    """Measures the drop at the end of a body that should not move [mm], relative to a size [m]."""
    z = run.pos[:, run.find(body), 2]
    drop = float(z[0] - z[-1])
    return Measurement(1e3 * drop, abs(drop) / size, calc_speed_at_end(run.time, z))


def measure_slider_and_rest(
    run: Trajectory, slider: str, rest: str, exact: float, direction: int = 1
) -> Measurement:
    """Measures the way of a body along x or against it (-1) [mm]; another one should not move."""
    x = {name: run.pos[:, run.find(name), 0] for name in (slider, rest)}
    moved = {name: float(direction * (along[-1] - along[0])) for name, along in x.items()}
    error = (abs(moved[slider] - exact) + abs(moved[rest])) / exact
    return Measurement(1e3 * moved[slider], error, calc_speed_at_end(run.time, x[rest]))


# ---- The energy that a run gained ----------------------------------------------------------------


def calc_energy(world: World, run: Trajectory) -> Vector:
    """Returns kinetic and potential energy minus the work of constant forces, (n,) [J]."""
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
    """Returns the largest rise of the energy from one sample to a later one [J], or 0."""
    energy = calc_energy(world, run)
    return float(np.max(energy - np.minimum.accumulate(energy)))


def rotate_back(quat: Vector, v: Vector) -> Vector:
    """Returns world vectors in the frames of bodies, (n, 3)."""
    w, axis = quat[:, :1], -quat[:, 1:]
    t = 2 * np.cross(axis, v)
    return np.asarray(v + w * t + np.cross(axis, t))
