"""A sphere thrown horizontally, which lands, slides and rolls: [castro2023], section IX.B.

The paper does not define its initial height of 5 cm. Here it is the gap below the sphere, as in the
trajectories of other simulators that the study is compared with.
"""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.experiments.planar import GRAVITY, PlanarBody, Vector
from stiction.evidence.experiments.planar_case import PlanarCase

MASS = 0.5  # [kg]
RADIUS = 0.025  # [m]
FRICTION = 0.5  # [-]
STIFFNESS = 1e7  # [N/m]
DISSIPATION = 500.0  # [s/m]
RELAXATION_TIME = 1e-3  # tau_d of 'sap' [s]; in print, the paper's value lacks its mantissa
HEIGHT = 0.05  # initial gap below the sphere [m]
SPEED = 2.0  # U0 [m/s]


def _make_start(contact_model: str, time_step: float) -> tuple[Vector, Vector]:
    return np.array([0.0, HEIGHT + RADIUS, 0.0]), np.array([SPEED, 0.0, 0.0])


CASE = PlanarCase(
    body=PlanarBody(
        mass=MASS,
        inertia=0.4 * MASS * RADIUS**2,
        spheres=((0.0, 0.0, RADIUS),),
        friction=FRICTION,
        stiffness=STIFFNESS,
        dissipation=DISSIPATION,
        relaxation_time=RELAXATION_TIME,
    ),
    make_start=_make_start,
    duration=0.3,
    steps=(1e-2, 2e-3, 4e-4),  # figure 6
    columns=(0, 1),
    reference_steps=(4e-6, 2e-6),
    quick_reference_steps=(8e-6, 4e-6),
    sampling=4e-5,
)


# ---- Closed-form motion of a rigid sphere that falls, slides and rolls ---------------------------
# The time at which the sphere begins to roll does not depend on the height of the fall,
#
#     2 U0 / (7 mu g),
#
# because the impulse of friction is mu times the normal impulse, and the normal impulse equals that
# of the weight since time 0. The sphere is solid: its moment of inertia is 2/5 m R^2.

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
