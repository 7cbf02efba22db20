"""Closed-form motion of a rigid sphere that falls, slides and rolls.

The time at which the sphere begins to roll does not depend on the height of the fall,

    2 U0 / (7 mu g),

because the impulse of friction is mu times the normal impulse, and the normal impulse equals that
of the weight since time 0. The sphere is solid: its moment of inertia is 2/5 m R^2.
"""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.experiments.falling_sphere import FRICTION, HEIGHT, RADIUS, SPEED
from stiction.evidence.experiments.planar import GRAVITY, Vector

ROLLING_TIME = 2 * SPEED / (7 * FRICTION * GRAVITY)  # [s]
ROLLING_SPEED = 5 * SPEED / 7  # [m/s]


def calc_rigid_motion(time: Vector) -> Vector:
    """Returns x, z [m] and theta [rad] of a rigid sphere that does not rebound, (n, 3)."""
    impact = math.sqrt(2 * HEIGHT / GRAVITY)
    t = np.asarray(time)
    # From the impact on, the normal impulse equals that of the weight since time 0.
    speed_lost = FRICTION * GRAVITY
    sliding = np.clip(t, impact, ROLLING_TIME)
    speed = SPEED - speed_lost * sliding  # during the slip; constant before and after it
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
