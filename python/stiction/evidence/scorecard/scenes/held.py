"""Bodies that friction holds: they do not move."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from stiction.evidence.engines.world import (
    Body,
    Geom,
    Joint,
    Trajectory,
    Vec,
    Vector,
    World,
    make_box,
    tilt_gravity,
)
from stiction.evidence.scorecard.scene import (
    SETTLE,
    Measurement,
    Scene,
    calc_speed_at_end,
    load_later,
    measure_drop,
    rotate_back,
)

_STEPS = (1e-2, 5e-3, 2e-3)


def _make_finger(
    name: str, half: Vec, mass: float, mu: float, pos: Vec, axis: Vec, force: Vec, **fields: str
) -> Body:
    return make_box(
        name, half, mass, mu, pos=pos, joint=Joint("slide", axis), force=force, **fields
    )


# ---- the cube between two fingers -------------------------------------------------------------------

_CUBE_HALF, _CUBE_MASS, _CUBE_FRICTION, _LOAD_SHARE = 0.02, 0.1, 0.5, 0.5
_CUBE_GRIP = _CUBE_MASS * 9.81 / (2 * _CUBE_FRICTION * _LOAD_SHARE)  # force of a finger [N]


def make_held_cube() -> World:
    """Returns the cube, and fingers on slides."""
    half = (0.005, 1.5 * _CUBE_HALF, 1.5 * _CUBE_HALF)
    fingers = [
        _make_finger(
            name, half, 0.05, _CUBE_FRICTION, (side * (_CUBE_HALF + 0.005), 0.0, 0.0),
            (1.0, 0.0, 0.0), (-side * _CUBE_GRIP, 0.0, 0.0),
        )
        for name, side in (("left", -1), ("right", 1))
    ]  # fmt: skip
    weight = (0.0, 0.0, -9.81 * _CUBE_MASS)
    cube = make_box(
        "cube", (_CUBE_HALF,) * 3, _CUBE_MASS, _CUBE_FRICTION, pos=(0.0, 0.0, 0.0), force=weight
    )
    return World(bodies=(*fingers, cube), gravity=(0.0, 0.0, 0.0))


HELD_CUBE = Scene(
    name="held_cube",
    title="Cube held at half its Coulomb capacity",
    quantity="drop in 2 s [mm]",
    error="drop over the side of 40 mm",
    exact=0.0,
    make_world=make_held_cube,
    steps=_STEPS,
    duration=2.0 + SETTLE,
    measure=partial(measure_drop, body="cube", size=2 * _CUBE_HALF),
    energy_scale=_CUBE_MASS * 9.81 * 2 * _CUBE_HALF,
    settle=SETTLE,
    make_forces=load_later(make_held_cube, {"cube": (0.0, 0.0, 0.0)}),
    derivation="""
A cube that two fingers hold.

The fingers press with F each, so friction can carry 2 mu F. The cube weighs half of it. Coulomb
friction holds any load below its
bound without slip: the cube does not move. Its weight comes when the fingers have settled.
""",
)

# ---- the cube on a wall -----------------------------------------------------------------------------

_WALL_HALF, _WALL_MASS, _WALL_FRICTION = 0.05, 1.0, 0.5
_PUSH = 2 * _WALL_MASS * 9.81 / _WALL_FRICTION  # [N]


def make_wall_cube() -> World:
    """Returns the cube and the wall, which is on the left."""
    wall = Geom("box", (0.1, 0.5, 0.5), _WALL_FRICTION, pos=(-0.1, 0.0, 0.0))
    load = (-_PUSH, 0.0, -9.81 * _WALL_MASS)
    pos = (_WALL_HALF, 0.0, 0.0)
    cube = make_box("cube", (_WALL_HALF,) * 3, _WALL_MASS, _WALL_FRICTION, pos=pos, force=load)
    return World(bodies=(cube,), ground=(wall,), gravity=(0.0, 0.0, 0.0))


WALL_CUBE = Scene(
    name="wall_cube",
    title="Cube pressed to a wall at half its Coulomb capacity",
    quantity="drop in 2 s [mm]",
    error="drop over the side of 100 mm",
    exact=0.0,
    make_world=make_wall_cube,
    steps=_STEPS,
    duration=2.0 + SETTLE,
    measure=partial(measure_drop, body="cube", size=2 * _WALL_HALF),
    energy_scale=_WALL_MASS * 9.81 * 2 * _WALL_HALF,
    settle=SETTLE,
    make_forces=load_later(make_wall_cube, {"cube": (-_PUSH, 0.0, 0.0)}),
    derivation="""
A cube that a force presses against a wall.

The force F through its center is so large that friction mu F could carry twice the weight. The
moment m g a of friction at the distance a from the center is balanced by a shift of the normal
force by m g a / F = mu a / 2 < a, so the face stays in contact. The cube does not move. Its weight
comes when the contact has settled.
""",
)

# ---- bodies whose place is measured in the frame of what holds them -----------------------------------

_MOVE = "motion in 1 s [mm]"
_REST = 1.0  # time until the measurement [s]


def measure_motion(
    run: Trajectory, body: str, size: float, holder: str | None = None
) -> Measurement:
    """Measures a body's motion in its holder or the world at the end [mm], relative to a size [m]."""
    place = run.pos[:, run.find(body)]
    if holder is not None:
        i = run.find(holder)
        place = rotate_back(run.quat[:, i], place - run.pos[:, i])
    way = np.linalg.norm(place - place[0], axis=1)
    return Measurement(
        1e3 * float(way[-1]), float(way[-1]) / size, calc_speed_at_end(run.time, way)
    )


_GRIP_FRICTION, _ARM, _TURN_SPEED = 0.8, 0.06, 4.0  # [-], [m], [rad/s]
_PLATE_HALF, _PLATE_MASS = (0.03, 0.0105, 0.03), 0.2


def make_turning_grip() -> World:
    """Returns the wrist, which turns about y, its fingers, and the plate."""
    about_y = (0.0, 1.0, 0.0)
    wrist = Body(
        "wrist", (0.0, 0.0, 0.0), 1.0, (1.0,) * 3,
        joint=Joint("hinge", about_y, velocity=_TURN_SPEED),
    )  # fmt: skip
    fingers = [
        _make_finger(
            name, (0.01, 0.01, 0.01), 0.1, _GRIP_FRICTION,
            (_ARM, side * (_PLATE_HALF[1] + 0.01), 0.0), about_y, (0.0, -5.0 * side, 0.0),
            parent="wrist",
        )
        for name, side in (("one", 1), ("two", -1))
    ]  # fmt: skip
    plate = make_box(
        "plate", _PLATE_HALF, _PLATE_MASS, _GRIP_FRICTION, pos=(_ARM, 0.0, 0.0),
        velocity=(0.0, 0.0, -_TURN_SPEED * _ARM), spin=(0.0, _TURN_SPEED, 0.0),
    )  # fmt: skip
    return World(bodies=(wrist, *fingers, plate), gravity=(0.0, 0.0, 0.0))


TURNING_GRIP = Scene(
    name="turning_grip",
    title="Plate that two fingers hold beside the axis of a wrist that turns",
    quantity=_MOVE,
    error="motion in the wrist over the arm of 60 mm",
    exact=0.0,
    make_world=make_turning_grip,
    steps=_STEPS,
    duration=2.0,
    measure=partial(measure_motion, body="plate", size=_ARM, holder="wrist"),
    energy_scale=_PLATE_MASS * (_TURN_SPEED * _ARM) ** 2 / 2,
    settle=_REST,
    derivation="""
A plate that two fingers hold at the distance r from the axis of a wrist that turns at omega.

The fingers press with F each along the axis. Friction can carry 2 mu F = 8 N, and the plate needs
m omega^2 r = 0.19 N to move on its circle, so it does not move in the frame of the wrist. A method
that asks for no slip velocity at the end of a step moves the plate along the tangent, and so drifts
outward by omega^2 r dt / 2.
""",
)

_STACK_TILT, _STACK_FRICTION = 0.1, 0.8  # [rad], [-]


def make_stack() -> World:
    """Returns five boxes; each is 2 mm narrower than the one below. Gravity is tilted."""
    boxes = [
        make_box(
            f"box{i}", (0.05 - 0.002 * i, 0.05 - 0.002 * i, 0.05), 1.0, _STACK_FRICTION,
            pos=(0.0, 0.0, 0.05 + 0.1 * i),
        )
        for i in range(5)
    ]  # fmt: skip
    floor = Geom("plane", (5.0, 5.0), _STACK_FRICTION)
    return World(bodies=tuple(boxes), ground=(floor,), gravity=tilt_gravity(_STACK_TILT))


STACK = Scene(
    name="stack",
    title="Five boxes on each other on a slope",
    quantity=_MOVE,
    error="motion of the highest box over the side of 100 mm",
    exact=0.0,
    make_world=make_stack,
    steps=_STEPS,
    duration=2.0,
    measure=partial(measure_motion, body="box4", size=0.1),
    energy_scale=9.81 * 0.1,
    settle=_REST,
    derivation="""
Five boxes on each other on a slope of 0.1 rad.

Friction with mu = 0.8 needs the share tan(0.1) / mu = 0.13 of its bound. The weight of the boxes above
meets the foot of each box inside its face: the stack is 0.5 m high, its center of mass is at most
0.25 tan(0.1) = 25 mm aside, and half a face is at least 42 mm. The boxes do not move.
""",
)

_SLOPE_FRICTION = 0.5
_SLOPE = math.atan(0.5 * _SLOPE_FRICTION)  # at half the friction cone [rad]
_SHARE, _FREQUENCY = 0.3, 20.0  # of the oscillating load [-], [Hz]


def make_shaken_box() -> World:
    """Returns a box on a plane; gravity is tilted."""
    box = make_box("box", (0.1, 0.1, 0.05), 1.0, _SLOPE_FRICTION, pos=(0.0, 0.0, 0.05))
    floor = Geom("plane", (5.0, 5.0), _SLOPE_FRICTION)
    return World(bodies=(box,), ground=(floor,), gravity=tilt_gravity(_SLOPE))


def _shake(time_step: float, num_steps: int) -> Vector:
    time = time_step * np.arange(num_steps)
    forces = np.zeros((num_steps, 1, 3))
    swing = np.sin(2 * math.pi * _FREQUENCY * time)
    forces[:, 0, 2] = _SHARE * 9.81 * math.cos(_SLOPE) * swing
    return forces


SHAKEN_BOX = Scene(
    name="shaken_box",
    title="Box on a slope whose load oscillates",
    quantity=_MOVE,
    error="motion over the height of 100 mm",
    exact=0.0,
    make_world=make_shaken_box,
    steps=_STEPS,
    duration=2.0,
    measure=partial(measure_motion, body="box", size=0.1),
    energy_scale=None,
    settle=_REST,
    make_forces=_shake,
    derivation="""
A box on a slope at half the friction cone, whose normal load oscillates by 30 % at 20 Hz.

Friction needs the share 0.5 / (1 - 0.3) = 0.71 of its bound at most, so the box does not move.
""",
)


def make_can() -> World:
    """Returns a cylinder on a box; gravity is tilted."""
    moment = (3 * 0.1**2 + 0.1**2) / 12
    can = Body(
        "can", (0.0, 0.0, 0.05), 1.0, (moment, moment, 0.1**2 / 2),
        (Geom("cylinder", (0.1, 0.05), _SLOPE_FRICTION),),
    )  # fmt: skip
    floor = Geom("box", (3.0, 1.0, 0.1), _SLOPE_FRICTION, pos=(2.0, 0.0, -0.1))
    return World(bodies=(can,), ground=(floor,), gravity=tilt_gravity(_SLOPE))


CAN = Scene(
    name="can",
    title="Cylinder on a box on a slope",
    quantity=_MOVE,
    error="motion over the height of 100 mm",
    exact=0.0,
    make_world=make_can,
    steps=_STEPS,
    duration=2.0,
    measure=partial(measure_motion, body="can", size=0.1),
    energy_scale=9.81 * 0.1,
    settle=_REST,
    derivation="""
A cylinder that stands on a box on a slope at half the friction cone.

It does not move. The contact points of a cylinder on a box may change from step to step, so a method
that remembers them has to find them again.
""",
)
