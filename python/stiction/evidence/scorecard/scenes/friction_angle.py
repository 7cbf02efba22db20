"""Two blocks on a slope, 1 % below and 1 % above the friction angle.

Block `stays` has tan(alpha) = 0.99 mu and rests. Block `slides` has tan(alpha) = 1.01 mu. It slides
with the acceleration g (sin(alpha) - mu cos(alpha)), so its distance is half of that times the
square of the time. The part of gravity along the slope comes as a force when the contacts have
settled.
"""

from __future__ import annotations

import math
from functools import partial

from stiction.evidence.engines.world import Geom, World, make_box
from stiction.evidence.scorecard.scene import SETTLE, Scene, load_later, measure_slider_and_rest

SLOPE = math.atan(0.5)
FRICTION = {"stays": 0.5 / 0.99, "slides": 0.5 / 1.01}
HALF, MASS, DURATION = (0.1, 0.1, 0.025), 1.0, 2.0
ACCELERATION = 9.81 * (math.sin(SLOPE) - FRICTION["slides"] * math.cos(SLOPE))  # [m/s^2]
DISTANCE = ACCELERATION * DURATION**2 / 2


def make_world() -> World:
    """Returns the scene. Each block has a floor of its own friction; the load is tilted instead of
    the floors."""
    places = {"stays": -1.0, "slides": 1.0}
    pull = (9.81 * MASS * math.sin(SLOPE), 0.0, 0.0)
    blocks = [
        make_box(name, HALF, MASS, FRICTION[name], pos=(0.0, y, HALF[2]), force=pull)
        for name, y in places.items()
    ]
    floors = [
        Geom("box", (1.0, 0.5, 0.1), FRICTION[name], pos=(0.0, y, -0.1))
        for name, y in places.items()
    ]
    gravity = (0.0, 0.0, -9.81 * math.cos(SLOPE))
    return World(bodies=tuple(blocks), ground=tuple(floors), gravity=gravity)


SCENE = Scene(
    name="friction_angle",
    title="Blocks 1 % below and above the friction angle",
    quantity="distance of the upper in 2 s [mm]",
    error="errors of both distances over that of the sliding block",
    exact=1e3 * DISTANCE,
    make_world=make_world,
    steps=(1e-2, 5e-3, 2e-3),
    duration=DURATION + SETTLE,
    measure=partial(measure_slider_and_rest, slider="slides", rest="stays", exact=DISTANCE),
    energy_scale=MASS * 9.81 * DISTANCE * math.sin(SLOPE),
    settle=SETTLE,
    make_forces=load_later(make_world, dict.fromkeys(FRICTION, (0.0, 0.0, 0.0))),
)
