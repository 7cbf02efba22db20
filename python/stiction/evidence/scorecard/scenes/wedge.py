"""Wedges that lock if mu exceeds tan(alpha), and slide out if it does not.

A block with the mass M, which can only move down, presses on the slope of a wedge with the mass m,
which can only move sideways. The slope's angle is alpha with the tangent t. With the normal force N
and the acceleration a of the wedge,

    m a = N (sin - mu cos),    M (t a) = M g - N (cos + mu sin),

because the block moves down by t times the way of the wedge. Without motion, the wedge holds for mu
>= t. One wedge has mu 1 % above t, the other 1 % below. A force M g t on each wedge, which holds it
without friction, ends when the contacts have settled.
"""

from __future__ import annotations

import math
from functools import partial

from stiction.evidence.engines.world import Body, Joint, World, make_box, turn_about_y
from stiction.evidence.scorecard.scene import SETTLE, Scene, load_later, measure_slider_and_rest

TANGENT = 0.3
FRICTION = {"locks": TANGENT / 0.99, "slides": TANGENT / 1.01}
WEDGE_MASS, BLOCK_MASS, DURATION = 1.0, 1.0, 1.0
_WEDGE_HALF, _BLOCK_HALF = (0.2, 0.1, 0.05), (0.05, 0.05, 0.05)


def calc_acceleration(friction: float) -> float:
    """Returns the acceleration of the wedge from rest [m/s^2]; 0 if it locks."""
    alpha = math.atan(TANGENT)
    s, c = math.sin(alpha), math.cos(alpha)
    if friction >= TANGENT:
        return 0.0
    push = (s - friction * c) / WEDGE_MASS  # a / N
    return BLOCK_MASS * 9.81 * push / (c + friction * s + BLOCK_MASS * TANGENT * push)


DISTANCE = calc_acceleration(FRICTION["slides"]) * DURATION**2 / 2


def make_world() -> World:
    """Returns the scene. The slopes fall towards +x, so wedges slide out towards -x."""
    bodies: list[Body] = []
    for y, (name, friction) in zip((-0.5, 0.5), FRICTION.items(), strict=True):
        bodies += _make_pair(name, friction, y)
    return World(bodies=tuple(bodies))


def _make_pair(name: str, friction: float, y: float) -> list[Body]:
    """Returns a wedge and its block, boxes that are turned by the angle of the slope."""
    alpha = math.atan(TANGENT)
    quat, apart = turn_about_y(alpha), _WEDGE_HALF[2] + _BLOCK_HALF[2]
    normal = (math.sin(alpha), 0.0, math.cos(alpha))
    wedge = make_box(
        name, _WEDGE_HALF, WEDGE_MASS, friction, pos=(0.0, y, 0.0), quat=quat,
        joint=Joint("slide", (math.cos(alpha), 0.0, math.sin(alpha))),  # x in the frame of the box
    )  # fmt: skip
    block = make_box(
        f"{name}_block", _BLOCK_HALF, BLOCK_MASS, friction, quat=quat,
        pos=(apart * normal[0], y, apart * normal[2]),
        joint=Joint("slide", (-math.sin(alpha), 0.0, math.cos(alpha))),  # z in the frame of the box
    )  # fmt: skip
    return [wedge, block]


SCENE = Scene(
    name="wedge",
    title="Wedges 1 % below and above self-locking, mu = tan(alpha)",
    quantity="distance of the sliding wedge in 1 s [mm]",
    error="errors of both distances over that of the sliding wedge",
    exact=1e3 * DISTANCE,
    make_world=make_world,
    steps=(1e-2, 5e-3, 2e-3),
    duration=DURATION + SETTLE,
    measure=partial(
        measure_slider_and_rest, slider="slides", rest="locks", exact=DISTANCE, direction=-1
    ),
    energy_scale=BLOCK_MASS * 9.81 * TANGENT * DISTANCE,
    settle=SETTLE,
    make_forces=load_later(
        make_world, dict.fromkeys(FRICTION, (BLOCK_MASS * 9.81 * TANGENT, 0, 0))
    ),
    derivation=__doc__,
)
