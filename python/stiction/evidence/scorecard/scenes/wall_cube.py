"""A cube that a force presses against a wall.

The force F through its center is so large that friction mu F could carry twice the weight. The
moment m g a of friction at the distance a from the center is balanced by a shift of the normal
force by m g a / F = mu a / 2 < a, so the face stays in contact. The cube does not move. Its weight
comes when the contact has settled.
"""

from __future__ import annotations

from functools import partial

from stiction.evidence.engines.world import Geom, World, make_box
from stiction.evidence.scorecard.scene import SETTLE, Scene, load_later, measure_drop

HALF, MASS, FRICTION = 0.05, 1.0, 0.5
PUSH = 2 * MASS * 9.81 / FRICTION  # [N]


def make_world() -> World:
    """Returns the scene. The wall is on the left."""
    wall = Geom("box", (0.1, 0.5, 0.5), FRICTION, pos=(-0.1, 0.0, 0.0))
    load = (-PUSH, 0.0, -9.81 * MASS)
    cube = make_box("cube", (HALF,) * 3, MASS, FRICTION, pos=(HALF, 0.0, 0.0), force=load)
    return World(bodies=(cube,), ground=(wall,), gravity=(0.0, 0.0, 0.0))


SCENE = Scene(
    name="wall_cube",
    title="Cube pressed to a wall at half its Coulomb capacity",
    quantity="drop in 2 s [mm]",
    error="drop over the side of 100 mm",
    exact=0.0,
    make_world=make_world,
    steps=(1e-2, 5e-3, 2e-3),
    duration=2.0 + SETTLE,
    measure=partial(measure_drop, body="cube", size=2 * HALF),
    energy_scale=MASS * 9.81 * 2 * HALF,
    settle=SETTLE,
    make_forces=load_later(make_world, {"cube": (-PUSH, 0.0, 0.0)}),
)
