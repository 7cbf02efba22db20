"""A rod that slides on its tip until it jams: Painleve's paradox.

A rigid thin rod with the friction coefficient 2.3 turns upright while its tip slides. At the angle
with 1 + 3 cos^2 = 3 mu sin cos no finite force continues the motion, and an impulse stops the tip:
[theory:painleve], `experiments.painleve`. The ends are spheres of 0.1 mm, whose effect on the
angle is below 0.1 %.
"""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.engines.world import Body, Geom, Trajectory, World, turn_about_y
from stiction.evidence.experiments.painleve import calc_singular_angle
from stiction.evidence.experiments.sliding_rod import ANGLE, FRICTION, LENGTH, MASS, SPEED
from stiction.evidence.scorecard.scene import Measurement, Scene

_RADIUS = 1e-4  # [m]
_STICKS = 0.1  # a tip that slips more slowly than this has stopped [m/s]
JAM = math.degrees(calc_singular_angle())


def make_world() -> World:
    """Returns the scene. The rod is along x of its body; its right end is lower and leads."""
    moment = MASS * LENGTH**2 / 12
    ends = [Geom("sphere", (_RADIUS,), FRICTION, pos=(s * LENGTH / 2, 0.0, 0.0)) for s in (1, -1)]
    rod = Body(
        "rod",
        pos=(0.0, 0.0, LENGTH / 2 * math.sin(ANGLE) + _RADIUS),
        quat=turn_about_y(ANGLE),
        mass=MASS,
        inertia=(moment, moment, moment),
        geoms=tuple(ends),
        velocity=(SPEED, 0.0, 0.0),
    )
    return World(bodies=(rod,), ground=(Geom("plane", (5.0, 5.0), FRICTION),))


def measure(run: Trajectory) -> Measurement:
    """Measures the angle between rod and ground at which the tip first stops."""
    w, _, y, _ = run.quat[:, 0].T
    angle = 2 * np.arctan2(y, w)
    slip = run.velocity[:, 0, 0] - LENGTH / 2 * np.sin(angle) * run.spin[:, 0, 1]
    stopped = np.flatnonzero(slip < _STICKS)
    if not len(stopped):
        return Measurement(math.nan, math.inf)
    found = math.degrees(float(angle[stopped[0]]))
    return Measurement(found, abs(found - JAM) / (JAM - math.degrees(ANGLE)))


SCENE = Scene(
    name="rod_jam",
    title="Rod that jams (Painleve)",
    quantity="angle of the jam [deg]",
    error="relative to the rotation until the jam",
    exact=JAM,
    make_world=make_world,
    steps=(1e-4, 5e-5, 2e-5),
    duration=0.03,
    measure=measure,
    energy_scale=MASS * SPEED**2 / 2,
    derivation=__doc__,
)
