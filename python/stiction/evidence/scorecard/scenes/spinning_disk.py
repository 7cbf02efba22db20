"""A disk that slides and spins until it stops.

Under an even pressure v and R w reach zero together at the ratio 0.653, whatever the start
[farkas2003]. A disk that starts with this ratio keeps it. The ratio is the root of a quadrature
(`experiments.disk`, [theory:disk]).
"""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.engines.world import Body, Geom, Surface, Trajectory, World
from stiction.evidence.experiments.disk import calc_final_ratio
from stiction.evidence.scorecard.scene import Measurement, Scene

RADIUS, HALF_THICKNESS, MASS, FRICTION = 0.05, 5e-4, 0.05, 0.2
SPEED, FRACTION = 1.0, 0.02
_MODULUS, _SLAB = 1e6, 5e-3  # of the slab under engines with pressure fields [Pa], [m]


RATIO = calc_final_ratio()


def make_world() -> World:
    """Returns the scene: a disk so thin that the moment of friction hardly shifts the pressure."""
    spin = SPEED / math.hypot(RATIO, 1.0)
    tip = MASS * (3 * RADIUS**2 + (2 * HALF_THICKNESS) ** 2) / 12
    disk = Body(
        "disk",
        pos=(0.0, 0.0, HALF_THICKNESS),
        mass=MASS,
        inertia=(tip, tip, MASS * RADIUS**2 / 2),
        geoms=(Geom("cylinder", (RADIUS, HALF_THICKNESS), FRICTION),),
        velocity=(RATIO * spin, 0.0, 0.0),
        spin=(0.0, 0.0, spin / RADIUS),
    )
    surface = Surface("field", modulus=_MODULUS, thickness=_SLAB, hint=RADIUS / 6)
    return World(bodies=(disk,), ground=(Geom("plane", (5.0, 5.0), FRICTION),), surface=surface)


def measure(run: Trajectory) -> Measurement:
    """Measures v / (R w) when the speed hypot(v, R w) has fallen to a fiftieth."""
    v = np.hypot(run.velocity[:, 0, 0], run.velocity[:, 0, 1])
    spin = RADIUS * np.abs(run.spin[:, 0, 2])
    speed = np.hypot(v, spin)
    below = np.flatnonzero(speed <= FRACTION * SPEED)
    if not len(below):
        return Measurement(math.nan, math.inf)
    i = int(below[0])
    weight = (speed[i - 1] - FRACTION * SPEED) / (speed[i - 1] - speed[i])
    ratio = v / np.maximum(spin, 1e-12)
    found = float(ratio[i - 1] + weight * (ratio[i] - ratio[i - 1]))
    return Measurement(found, abs(found / RATIO - 1))


SCENE = Scene(
    name="spinning_disk",
    title="Disk that slides and spins to a stop",
    quantity="v / (R w) at 2 % of the speed [-]",
    error="relative to the ratio",
    exact=RATIO,
    make_world=make_world,
    steps=(2e-3, 1e-3, 5e-4),
    duration=0.7,
    measure=measure,
    energy_scale=MASS * SPEED**2 / 2,
    derivation=__doc__,
)
