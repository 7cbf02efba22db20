"""A bowling ball that slides, begins to turn, and rolls.

While it slides, v' = -mu g and R w' = 5/2 mu g. It rolls when v = R w, at the time 2 v0 / (7 mu g)
and the speed 5/7 v0, and keeps this speed.
"""

from __future__ import annotations

from functools import partial

from stiction.evidence.engines.world import Geom, World, make_sphere
from stiction.evidence.scorecard.scene import Scene, measure_distance

RADIUS, MASS, FRICTION, SPEED, DURATION = 0.1, 1.0, 0.2, 2.0, 0.6
ROLLS_AT = 2 * SPEED / (7 * FRICTION * 9.81)  # [s]
DISTANCE = (
    SPEED * ROLLS_AT - FRICTION * 9.81 * ROLLS_AT**2 / 2 + 5 / 7 * SPEED * (DURATION - ROLLS_AT)
)


def make_world() -> World:
    """Returns the scene."""
    pos, velocity = (0.0, 0.0, RADIUS), (SPEED, 0.0, 0.0)
    sphere = make_sphere("ball", RADIUS, MASS, FRICTION, pos=pos, velocity=velocity)
    return World(bodies=(sphere,), ground=(Geom("plane", (5.0, 5.0), FRICTION),))


SCENE = Scene(
    name="bowling",
    title="Bowling ball that slides until it rolls",
    quantity="distance in 0.6 s [mm]",
    error="relative to the distance",
    exact=1e3 * DISTANCE,
    make_world=make_world,
    steps=(1e-2, 5e-3, 1e-3),
    duration=DURATION,
    measure=partial(measure_distance, exact=DISTANCE),
    energy_scale=MASS * SPEED**2 / 2,
)
