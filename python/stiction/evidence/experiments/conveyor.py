"""A box on an oscillating belt: the experiment of [castro2023], section IX.A.

The belt is the ground with a prescribed surface velocity, in a step (x_b(t + dt) - x_b(t)) / dt, so
that its position is exact. The box moves in x and z, with one contact below its center. Both start
at rest, when the belt has its largest acceleration, which friction cannot follow; with another
velocity, models that act at a distance would throw the box up. Velocities of the scheme are those
at the middle of the steps, so the box starts with that of half a step earlier.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

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


# ---- Exact motion of a rigid box on the belt of the conveyor by Coulomb's law --------------------


def calc_exact_motion(time: Vector) -> Vector:
    """Returns the position relative to the belt [m] and the slip velocity [m/s], (n, 2). A phase
    of stiction ends when the belt's acceleration exceeds mu g. In a phase of slip the box has
    the acceleration mu g; it ends when the velocities of box and belt are equal. Each end is
    found by bisection."""
    bound = FRICTION * GRAVITY
    out = np.zeros((len(time), 2))
    start, position, sign = 0.0, 0.0, 1.0  # of the current phase; sign of friction along x
    slipping = True  # the belt starts at its largest acceleration, above mu g
    while start < time[-1]:
        u0, x0 = float(calc_belt_velocity(start)), float(calc_belt_position(start)) + position

        def slip(
            t: float, t0: float = start, u0: float = u0, acceleration: float = sign * bound
        ) -> float:
            return u0 + acceleration * (t - t0) - float(calc_belt_velocity(t))

        def excess(t: float) -> float:
            return abs(AMPLITUDE * OMEGA**2 * math.cos(OMEGA * t)) - bound

        function = (lambda t, s=sign: s * slip(t)) if slipping else excess
        end = _find_rise(function, start + 1e-6, time[-1])
        inside = (time >= start) & (time <= end)
        t = time[inside]
        if slipping:
            x = x0 + u0 * (t - start) + 0.5 * sign * bound * (t - start) ** 2
            out[inside, 0] = x - calc_belt_position(t)
            out[inside, 1] = [slip(each) for each in t]
            span = end - start
            position = float(
                x0 + u0 * span + 0.5 * sign * bound * span**2 - calc_belt_position(end)
            )
        else:
            out[inside, 0] = position
        # In the next phase of slip, friction points along the belt's acceleration.
        sign = 1.0 if math.cos(OMEGA * end) > 0 else -1.0
        slipping = not slipping or excess(end) > 0
        start = end
    return out


def _find_rise(function: Callable[[float], float], start: float, end: float) -> float:
    """Returns the first root of a function that is negative at the start, or the end without a root."""
    grid = np.linspace(start, end, 4000)
    for low, high in itertools.pairwise(grid):
        if function(high) >= 0:
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if function(middle) < 0 else (low, middle)
            return float(high)
    return end
