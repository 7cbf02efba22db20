"""A sphere that rolls down a slope of 20 degrees from rest.

Rolling without slip needs the friction (2/7) m g sin(alpha), less than mu m g cos(alpha). The
balance of moments about the point of contact gives the acceleration (5/7) g sin(alpha).
"""

from __future__ import annotations

import math
from functools import partial

from stiction.evidence.engines.world import Geom, World, make_sphere, tilt_gravity
from stiction.evidence.scorecard.scene import Scene, measure_distance

SLOPE, RADIUS, MASS, FRICTION, DURATION = math.radians(20), 0.05, 1.0, 0.5, 1.0
DISTANCE = 5 / 14 * 9.81 * math.sin(SLOPE) * DURATION**2


def make_world() -> World:
    """Returns the scene. Gravity is tilted instead of the floor."""
    sphere = make_sphere("sphere", RADIUS, MASS, FRICTION, pos=(0.0, 0.0, RADIUS))
    floor = Geom("plane", (5.0, 5.0), FRICTION)
    return World(bodies=(sphere,), ground=(floor,), gravity=tilt_gravity(SLOPE))


SCENE = Scene(
    name="rolling_sphere",
    title="Sphere that rolls down a slope",
    quantity="distance in 1 s [mm]",
    error="relative to the distance",
    exact=1e3 * DISTANCE,
    make_world=make_world,
    steps=(1e-2, 5e-3, 1e-3),
    duration=DURATION,
    measure=partial(measure_distance, exact=DISTANCE),
    energy_scale=MASS * 9.81 * DISTANCE * math.sin(SLOPE),
)
