"""Exact motion of a rigid box on the belt of the conveyor by Coulomb's law."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from stiction.evidence.experiments.conveyor import (
    AMPLITUDE,
    FRICTION,
    OMEGA,
    calc_belt_position,
    calc_belt_velocity,
)
from stiction.evidence.experiments.planar import GRAVITY, Vector


def calc_exact_motion(time: Vector) -> Vector:
    """Returns the position relative to the belt [m] and the slip velocity [m/s], (n, 2).

    A phase of stiction ends when the belt's acceleration exceeds mu g. In a phase of slip the box
    has the acceleration mu g; it ends when the velocities of box and belt are equal. Each end is
    found by bisection.

    Args:
        time: ascending times from 0, (n,) [s].
    """
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
