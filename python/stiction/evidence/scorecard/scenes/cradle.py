"""Newton's cradle: five equal balls with gaps, without friction and gravity.

Two equal balls that collide without loss exchange their velocities. The balls have gaps, so there
are four collisions of two balls, one after the other. At the end the last ball has the velocity of
the first, and the others rest.
"""

from __future__ import annotations

import numpy as np

from stiction.evidence.engines.world import Joint, Surface, Trajectory, World, make_sphere
from stiction.evidence.scorecard.scene import Measurement, Scene

NUM, RADIUS, GAP, MASS, SPEED = 5, 0.02, 5e-3, 0.1, 1.0
# Two balls on this spring touch for pi sqrt(m / (2 k)) = 7 ms, and press in by 2.2 mm, less than a
# gap.
_STIFFNESS = 1e4  # [N/m]


def make_world() -> World:
    """Returns the scene. Each ball has a joint along x."""
    bodies = [
        make_sphere(
            f"ball{i}", RADIUS, MASS, 0.0, pos=(i * (2 * RADIUS + GAP), 0.0, 0.0),
            joint=Joint("slide", (1.0, 0.0, 0.0), velocity=SPEED if i == 0 else 0.0),
        )
        for i in range(NUM)
    ]  # fmt: skip
    surface = Surface("elastic", stiffness=_STIFFNESS)
    return World(bodies=tuple(bodies), gravity=(0.0, 0.0, 0.0), surface=surface)


def measure(run: Trajectory) -> Measurement:
    """Measures the velocities at the end."""
    velocity = run.velocity[-1, :, 0]
    exact = np.array([0.0] * (NUM - 1) + [SPEED])
    return Measurement(float(velocity[-1]), float(np.linalg.norm(velocity - exact)) / SPEED)


SCENE = Scene(
    name="cradle",
    title="Newton's cradle with gaps",
    quantity="speed of the last ball [m/s]",
    error="errors of all velocities, as a norm, over the speed",
    exact=SPEED,
    make_world=make_world,
    steps=(2e-3, 1e-3, 2e-4),
    duration=0.1,
    measure=measure,
    energy_scale=MASS * SPEED**2 / 2,
    derivation=__doc__,
)
