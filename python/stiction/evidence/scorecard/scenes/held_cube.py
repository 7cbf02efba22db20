"""A cube that two fingers hold.

The fingers press with F each, so friction can carry 2 mu F. The cube weighs half of it. Coulomb
friction holds any load below its
bound without slip: the cube does not move. Its weight comes when the fingers have settled.
"""

from __future__ import annotations

from functools import partial

from stiction.evidence.engines.world import Body, Joint, World, make_box
from stiction.evidence.scorecard.scene import SETTLE, Scene, load_later, measure_drop

HALF, MASS, FRICTION, LOAD_SHARE = 0.02, 0.1, 0.5, 0.5
GRIP = MASS * 9.81 / (2 * FRICTION * LOAD_SHARE)  # force of a finger [N]


def make_world() -> World:
    """Returns the scene."""
    fingers = [_make_finger(name, side) for name, side in (("left", -1), ("right", 1))]
    weight = (0.0, 0.0, -9.81 * MASS)
    cube = make_box("cube", (HALF,) * 3, MASS, FRICTION, pos=(0.0, 0.0, 0.0), force=weight)
    return World(bodies=(*fingers, cube), gravity=(0.0, 0.0, 0.0))


def _make_finger(name: str, side: int) -> Body:
    return make_box(
        name,
        (0.005, 1.5 * HALF, 1.5 * HALF),
        0.05,
        FRICTION,
        pos=(side * (HALF + 0.005), 0.0, 0.0),
        joint=Joint("slide", (1.0, 0.0, 0.0)),
        force=(-side * GRIP, 0.0, 0.0),
    )


SCENE = Scene(
    name="held_cube",
    title="Cube held at half its Coulomb capacity",
    quantity="drop in 2 s [mm]",
    error="drop over the side of 40 mm",
    exact=0.0,
    make_world=make_world,
    steps=(1e-2, 5e-3, 2e-3),
    duration=2.0 + SETTLE,
    measure=partial(measure_drop, body="cube", size=2 * HALF),
    energy_scale=MASS * 9.81 * 2 * HALF,
    settle=SETTLE,
    make_forces=load_later(make_world, {"cube": (0.0, 0.0, 0.0)}),
)
