"""A block that slides to a stop on a level floor.

Friction mu m g takes the kinetic energy m v^2 / 2 over the distance v^2 / (2 mu g), however the
load is distributed.
"""

from __future__ import annotations

from stiction.scorecard.scene import Measurement, Scene, calc_speed_at_end
from stiction.scorecard.trajectory import Trajectory
from stiction.scorecard.world import Geom, World, make_box

HALF, MASS, FRICTION, SPEED = (0.1, 0.1, 0.025), 1.0, 0.5, 1.0
DISTANCE = SPEED**2 / (2 * FRICTION * 9.81)


def make_world() -> World:
    """Returns the scene."""
    pos, velocity = (0.0, 0.0, HALF[2]), (SPEED, 0.0, 0.0)
    block = make_box("block", HALF, MASS, FRICTION, pos=pos, velocity=velocity)
    return World(bodies=(block,), ground=(Geom("plane", (5.0, 5.0), FRICTION),))


def measure(run: Trajectory) -> Measurement:
    """Measures the distance after 0.5 s, twice the time to the stop."""
    x = run.pos[:, 0, 0]
    distance = float(x[-1] - x[0])
    creep = calc_speed_at_end(run.time, x, 0.4)
    return Measurement(1e3 * distance, abs(distance / DISTANCE - 1), creep)


SCENE = Scene(
    name="stopping_distance",
    title="Stopping distance of a sliding block",
    quantity="distance [mm]",
    error="relative to the distance",
    exact=1e3 * DISTANCE,
    make_world=make_world,
    steps=(1e-2, 5e-3, 1e-3),
    duration=0.5,
    measure=measure,
    energy_scale=MASS * SPEED**2 / 2,
)
