"""How a rigid sphere falls, slides and rolls, in closed form.

The time at which the sphere begins to roll does not depend on the height of the fall: friction's impulse
is mu times the normal impulse, which is that of the weight so far,

    2 U0 / (7 mu g).

Source of the inertia and the rest: theory of a solid sphere.
"""

from __future__ import annotations

import math

import numpy as np

from stiction.experiments.falling_sphere import FRICTION, HEIGHT, RADIUS, SPEED
from stiction.experiments.planar import GRAVITY, Vector

ROLLING_TIME = 2 * SPEED / (7 * FRICTION * GRAVITY)  # [s]
ROLLING_SPEED = 5 * SPEED / 7  # [m/s]


def calc_rigid_motion(time: Vector) -> Vector:
    """x, z [m], theta [rad] of a rigid sphere that does not rebound, (n, 3)."""
    impact = math.sqrt(2 * HEIGHT / GRAVITY)
    t = np.asarray(time)
    # The weight's impulse, all of it the ground's normal impulse from the impact on.
    speed_lost = FRICTION * GRAVITY
    sliding = np.clip(t, impact, ROLLING_TIME)
    speed = SPEED - speed_lost * sliding  # while it slides; at its ends before and after
    spin = -2.5 * speed_lost * sliding / RADIUS
    since = sliding - impact
    x = SPEED * np.minimum(t, impact)
    x = x + np.where(t > impact, 0.5 * since * (SPEED - speed_lost * impact + speed), 0.0)
    x = x + ROLLING_SPEED * np.maximum(0.0, t - ROLLING_TIME)
    first_spin = -2.5 * speed_lost * impact / RADIUS
    theta = np.where(t > impact, 0.5 * since * (first_spin + spin), 0.0)
    theta = theta - ROLLING_SPEED / RADIUS * np.maximum(0.0, t - ROLLING_TIME)
    z = RADIUS + np.maximum(0.0, HEIGHT - 0.5 * GRAVITY * np.minimum(t, impact) ** 2)
    return np.column_stack([x, z, theta])
