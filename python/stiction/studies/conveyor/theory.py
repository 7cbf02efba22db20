"""How a rigid box moves on the belt of the conveyor by Coulomb's law, in closed form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from stiction.experiments.conveyor import (
    AMPLITUDE,
    FRICTION,
    OMEGA,
    calc_belt_position,
    calc_belt_velocity,
)
from stiction.experiments.planar import GRAVITY, Vector


def calc_exact_motion(time: Vector) -> Vector:
    """Position against the belt [m] and slip velocity [m/s] by Coulomb's law, rigid, (n, 2).

    Phases of stiction end when the belt's acceleration exceeds mu g, phases of slip, at which the
    box's acceleration is mu g, when the velocities meet. Each end is found by bisection.

    Args:
        time: ascending from 0.
    """
    bound = FRICTION * GRAVITY
    out = np.zeros((len(time), 2))
    start, position, sign = 0.0, 0.0, 1.0  # of the phase; its direction of friction
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
        # Friction has the sign of the acceleration that it cannot follow.
        sign = 1.0 if math.cos(OMEGA * end) > 0 else -1.0
        slipping = not slipping or excess(end) > 0
        start = end
    return out


def _find_rise(function: Callable[[float], float], start: float, end: float) -> float:
    """The first time at which a function, below 0 at the start, is 0; else the end."""
    grid = np.linspace(start, end, 4000)
    for low, high in itertools.pairwise(grid):
        if function(high) >= 0:
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if function(middle) < 0 else (low, middle)
            return float(high)
    return end
