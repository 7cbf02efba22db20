"""A block that slides to a stop on a level floor.

Friction mu m g takes the kinetic energy m v^2 / 2 over the distance v^2 / (2 mu g), however the
load is distributed.
"""

from __future__ import annotations

from functools import partial

from stiction.evidence.engines.world import Geom, World, make_box
from stiction.evidence.scorecard.scene import Scene, measure_distance

HALF, MASS, FRICTION, SPEED = (0.1, 0.1, 0.025), 1.0, 0.5, 1.0
DISTANCE = SPEED**2 / (2 * FRICTION * 9.81)


def make_world() -> World:
    """Returns the scene."""
    pos, velocity = (0.0, 0.0, HALF[2]), (SPEED, 0.0, 0.0)
    block = make_box("block", HALF, MASS, FRICTION, pos=pos, velocity=velocity)
    return World(bodies=(block,), ground=(Geom("plane", (5.0, 5.0), FRICTION),))


SCENE = Scene(
    name="stopping_distance",
    title="Stopping distance of a sliding block",
    quantity="distance [mm]",
    error="relative to the distance",
    exact=1e3 * DISTANCE,
    make_world=make_world,
    steps=(1e-2, 5e-3, 1e-3),
    duration=0.5,  # twice the time to the stop
    measure=partial(measure_distance, exact=DISTANCE, rest_share=0.4),
    energy_scale=MASS * SPEED**2 / 2,
)
