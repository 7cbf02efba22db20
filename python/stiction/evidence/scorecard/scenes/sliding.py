"""Bodies that slide or roll a known distance."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from stiction.evidence.engines.world import (
    Geom,
    Trajectory,
    World,
    make_box,
    make_sphere,
    tilt_gravity,
)
from stiction.evidence.scorecard.scene import (
    SETTLE,
    Measurement,
    Scene,
    load_later,
    measure_distance,
    measure_slider_and_rest,
)

# ---- blocks at the friction angle ----------------------------------------------------------------

_ANGLE_SLOPE = math.atan(0.5)
_ANGLE_FRICTION = {"stays": 0.5 / 0.99, "slides": 0.5 / 1.01}
_ANGLE_HALF, _ANGLE_MASS, _ANGLE_DURATION = (0.1, 0.1, 0.025), 1.0, 2.0
_ANGLE_ACCELERATION = 9.81 * (
    math.sin(_ANGLE_SLOPE) - _ANGLE_FRICTION["slides"] * math.cos(_ANGLE_SLOPE)
)  # [m/s^2]
_ANGLE_DISTANCE = _ANGLE_ACCELERATION * _ANGLE_DURATION**2 / 2


def make_friction_angle() -> World:
    """Returns the scene: blocks on floors of their own friction, with a tilted load."""
    places = {"stays": -1.0, "slides": 1.0}
    pull = (9.81 * _ANGLE_MASS * math.sin(_ANGLE_SLOPE), 0.0, 0.0)
    blocks = [
        make_box(
            name,
            _ANGLE_HALF,
            _ANGLE_MASS,
            _ANGLE_FRICTION[name],
            pos=(0.0, y, _ANGLE_HALF[2]),
            force=pull,
        )
        for name, y in places.items()
    ]
    floors = [
        Geom("box", (1.0, 0.5, 0.1), _ANGLE_FRICTION[name], pos=(0.0, y, -0.1))
        for name, y in places.items()
    ]
    gravity = (0.0, 0.0, -9.81 * math.cos(_ANGLE_SLOPE))
    return World(bodies=tuple(blocks), ground=tuple(floors), gravity=gravity)


FRICTION_ANGLE = Scene(
    name="friction_angle",
    title="Blocks 1 % below and above the friction angle",
    quantity="distance of the upper in 2 s [mm]",
    error="errors of both distances over that of the sliding block",
    exact=1e3 * _ANGLE_DISTANCE,
    make_world=make_friction_angle,
    steps=(1e-2, 5e-3, 2e-3),
    duration=_ANGLE_DURATION + SETTLE,
    measure=partial(measure_slider_and_rest, slider="slides", rest="stays", exact=_ANGLE_DISTANCE),
    energy_scale=_ANGLE_MASS * 9.81 * _ANGLE_DISTANCE * math.sin(_ANGLE_SLOPE),
    settle=SETTLE,
    make_forces=load_later(make_friction_angle, dict.fromkeys(_ANGLE_FRICTION, (0.0, 0.0, 0.0))),
    derivation="""
Two blocks on a slope, 1 % below and 1 % above the friction angle.

Block `stays` has tan(alpha) = 0.99 mu and rests. Block `slides` has tan(alpha) = 1.01 mu. It slides
with the acceleration g (sin(alpha) - mu cos(alpha)), so its distance is half of that times the
square of the time. The part of gravity along the slope comes as a force when the contacts have
settled.
""",
)

# ---- the block that stops ------------------------------------------------------------------------

_STOP_HALF, _STOP_MASS, _STOP_FRICTION, _STOP_SPEED = (0.1, 0.1, 0.025), 1.0, 0.5, 1.0
_STOP_DISTANCE = _STOP_SPEED**2 / (2 * _STOP_FRICTION * 9.81)


def make_stopping_distance() -> World:
    """Returns the scene."""
    pos, velocity = (0.0, 0.0, _STOP_HALF[2]), (_STOP_SPEED, 0.0, 0.0)
    block = make_box("block", _STOP_HALF, _STOP_MASS, _STOP_FRICTION, pos=pos, velocity=velocity)
    return World(bodies=(block,), ground=(Geom("plane", (5.0, 5.0), _STOP_FRICTION),))


STOPPING_DISTANCE = Scene(
    name="stopping_distance",
    title="Stopping distance of a sliding block",
    quantity="distance [mm]",
    error="relative to the distance",
    exact=1e3 * _STOP_DISTANCE,
    make_world=make_stopping_distance,
    steps=(1e-2, 5e-3, 1e-3),
    duration=0.5,  # twice the time to the stop
    measure=partial(measure_distance, exact=_STOP_DISTANCE, rest_share=0.4),
    energy_scale=_STOP_MASS * _STOP_SPEED**2 / 2,
    derivation="""
A block that slides to a stop on a level floor.

Friction mu m g takes the kinetic energy m v^2 / 2 over the distance v^2 / (2 mu g), however the
load is distributed.
""",
)

# ---- the cube that slides fast -------------------------------------------------------------------

_FAST_HALF, _FAST_FRICTION, _FAST_SPEED = 0.05, 0.5, 6.0
_FAST_DISTANCE = _FAST_SPEED**2 / (2 * _FAST_FRICTION * 9.81)


def make_fast_slide() -> World:
    """Returns a cube that slides on a plane."""
    pos, velocity = (0.0, 0.0, _FAST_HALF), (_FAST_SPEED, 0.0, 0.0)
    cube = make_box("cube", (_FAST_HALF,) * 3, 1.0, _FAST_FRICTION, pos=pos, velocity=velocity)
    return World(bodies=(cube,), ground=(Geom("plane", (20.0, 20.0), _FAST_FRICTION),))


def measure_slide_and_lift(run: Trajectory) -> Measurement:
    """Measures how far the cube slides [mm]; its largest rise counts as an error too."""
    found = measure_distance(run, _FAST_DISTANCE, rest_share=0.1)
    z = run.pos[:, 0, 2]
    return replace(found, error=found.error + float(z.max() - z[0]) / _FAST_DISTANCE)


FAST_SLIDE = Scene(
    name="fast_slide",
    title="Cube that slides fast and does not lift off",
    quantity="distance [mm]",
    error="of the distance, plus the largest rise of the cube, over the distance",
    exact=1e3 * _FAST_DISTANCE,
    make_world=make_fast_slide,
    steps=(1e-2, 5e-3, 1e-3),
    duration=1.5,
    measure=measure_slide_and_lift,
    energy_scale=_FAST_SPEED**2 / 2,
    derivation="""
A cube of 0.1 m that slides at 6 m/s on a floor with friction 0.5, and stops after 1.22 s.

It does not tip, because friction is less than the width over the height, so its height never
changes. It stops after v^2 / (2 mu g) = 3.67 m. Convex laws of friction without a correction lift a
body in proportion to its slip speed.
""",
)

# ---- the sphere that rolls -----------------------------------------------------------------------

_ROLL_SLOPE, _ROLL_RADIUS, _ROLL_MASS, _ROLL_FRICTION, _ROLL_DURATION = (
    math.radians(20),
    0.05,
    1.0,
    0.5,
    1.0,
)
_ROLL_DISTANCE = 5 / 14 * 9.81 * math.sin(_ROLL_SLOPE) * _ROLL_DURATION**2


def make_rolling_sphere() -> World:
    """Returns the scene. Gravity is tilted instead of the floor."""
    sphere = make_sphere(
        "sphere", _ROLL_RADIUS, _ROLL_MASS, _ROLL_FRICTION, pos=(0.0, 0.0, _ROLL_RADIUS)
    )
    floor = Geom("plane", (5.0, 5.0), _ROLL_FRICTION)
    return World(bodies=(sphere,), ground=(floor,), gravity=tilt_gravity(_ROLL_SLOPE))


ROLLING_SPHERE = Scene(
    name="rolling_sphere",
    title="Sphere that rolls down a slope",
    quantity="distance in 1 s [mm]",
    error="relative to the distance",
    exact=1e3 * _ROLL_DISTANCE,
    make_world=make_rolling_sphere,
    steps=(1e-2, 5e-3, 1e-3),
    duration=_ROLL_DURATION,
    measure=partial(measure_distance, exact=_ROLL_DISTANCE),
    energy_scale=_ROLL_MASS * 9.81 * _ROLL_DISTANCE * math.sin(_ROLL_SLOPE),
    derivation="""
A sphere that rolls down a slope of 20 degrees from rest.

Rolling without slip needs the friction (2/7) m g sin(alpha), less than mu m g cos(alpha). The
balance of moments about the point of contact gives the acceleration (5/7) g sin(alpha).
""",
)

# ---- the ball that slides and rolls --------------------------------------------------------------

_BOWL_RADIUS, _BOWL_MASS, _BOWL_FRICTION, _BOWL_SPEED, _BOWL_DURATION = 0.1, 1.0, 0.2, 2.0, 0.6
_BOWL_ROLLS_AT = 2 * _BOWL_SPEED / (7 * _BOWL_FRICTION * 9.81)  # [s]
_BOWL_DISTANCE = (
    _BOWL_SPEED * _BOWL_ROLLS_AT
    - _BOWL_FRICTION * 9.81 * _BOWL_ROLLS_AT**2 / 2
    + 5 / 7 * _BOWL_SPEED * (_BOWL_DURATION - _BOWL_ROLLS_AT)
)


def make_bowling() -> World:
    """Returns the scene."""
    pos, velocity = (0.0, 0.0, _BOWL_RADIUS), (_BOWL_SPEED, 0.0, 0.0)
    sphere = make_sphere(
        "ball", _BOWL_RADIUS, _BOWL_MASS, _BOWL_FRICTION, pos=pos, velocity=velocity
    )
    return World(bodies=(sphere,), ground=(Geom("plane", (5.0, 5.0), _BOWL_FRICTION),))


BOWLING = Scene(
    name="bowling",
    title="Bowling ball that slides until it rolls",
    quantity="distance in 0.6 s [mm]",
    error="relative to the distance",
    exact=1e3 * _BOWL_DISTANCE,
    make_world=make_bowling,
    steps=(1e-2, 5e-3, 1e-3),
    duration=_BOWL_DURATION,
    measure=partial(measure_distance, exact=_BOWL_DISTANCE),
    energy_scale=_BOWL_MASS * _BOWL_SPEED**2 / 2,
    derivation="""
A bowling ball that slides, begins to turn, and rolls.

While it slides, v' = -mu g and R w' = 5/2 mu g. It rolls when v = R w, at the time 2 v0 / (7 mu g)
and the speed 5/7 v0, and keeps this speed.
""",
)
