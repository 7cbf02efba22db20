"""A box on an oscillating belt: the experiment of [castro2023], section IX.A.

The belt is the ground with a prescribed surface velocity. Its velocity in a step is
(x_b(t + dt) - x_b(t)) / dt, so that its position is exact after every step. The box moves in x and
z, with one contact below its center.

Belt and box start at rest, when the belt has its largest acceleration, which friction cannot
follow. (A box with another initial velocity than the belt's would be thrown up by the models that
act at a distance.) The velocities of the scheme are those at the middle of the steps, so the box
starts with the velocity that it had half a step earlier.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stiction.evidence.experiments.planar import GRAVITY, PlanarBody, Vector
from stiction.evidence.experiments.planar_case import PlanarCase

MASS = 1.0  # [kg]
SIDE = 0.05  # [m]
FRICTION = 0.7  # [-]
STIFFNESS = 1e7  # [N/m]
DISSIPATION = 500.0  # [s/m]
RELAXATION_TIME = 1e-3  # tau_d of 'sap' [s]; in print, the paper's value lacks its mantissa
REST = SIDE / 2 - MASS * GRAVITY / STIFFNESS  # z of a box at rest on the belt [m]

AMPLITUDE = 0.2  # amplitude of the belt [m]
FREQUENCY = 1.0  # frequency of the belt [Hz]
OMEGA = 2 * math.pi * FREQUENCY  # [rad/s]

_RADIUS = 0.01  # radius of the contact sphere [m]; the box does not rotate


def calc_belt_position(time: ArrayLike) -> Vector:
    """Returns the belt's position x_b [m]. At time 0 it is at rest, one amplitude to the left."""
    return -AMPLITUDE * np.cos(OMEGA * np.asarray(time))


def calc_belt_velocity(time: ArrayLike) -> Vector:
    """Returns the belt's velocity [m/s]."""
    return AMPLITUDE * OMEGA * np.sin(OMEGA * np.asarray(time))


def _make_start(contact_model: str, time_step: float) -> tuple[Vector, Vector]:
    q0 = np.array([float(calc_belt_position(0.0)), REST])
    return q0, np.array([-0.5 * time_step * FRICTION * GRAVITY, 0.0])


CASE = PlanarCase(
    body=PlanarBody(
        mass=MASS,
        inertia=1.0,
        spheres=((0.0, _RADIUS - SIDE / 2, _RADIUS),),
        friction=FRICTION,
        stiffness=STIFFNESS,
        dissipation=DISSIPATION,
        relaxation_time=RELAXATION_TIME,
        rotates=False,
    ),
    make_start=_make_start,
    duration=2.0,
    steps=(5e-2, 1e-2, 2e-3),  # figure 3
    columns=(0, 1),
    reference_steps=(2e-5, 1e-5),
    quick_reference_steps=(4e-5, 2e-5),
    ground_position=calc_belt_position,
)
