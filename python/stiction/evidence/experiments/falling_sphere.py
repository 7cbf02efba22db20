"""A sphere thrown horizontally, which lands, slides and rolls: [castro2023], section IX.B.

The paper does not define its initial height of 5 cm. Here it is the gap below the sphere, as in the
trajectories of other simulators that the study is compared with.
"""

from __future__ import annotations

import numpy as np

from stiction.evidence.experiments.planar import PlanarBody, Vector
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
