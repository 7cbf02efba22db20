"""Order of convergence, errors by Richardson's extrapolation, and the step of an accuracy.

Runs with the steps h_0, h_1 = h_0 / r, h_2 = h_0 / r^2, ... have the errors e_i = C h_i^p. The
differences d_i = |q_i - q_(i+1)| of successive runs give both without an exact solution:

    p = log(d_i / d_(i+1)) / log(r),      e_i = d_i / (1 - r^(-p)).

Source: L. F. Richardson's deferred approach to the limit; [castro2023] section IX for the norm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Orders for which the extrapolation is taken; outside, runs are not in the asymptotic range.
_ASYMPTOTIC = (0.5, 6.0)
_ROUND_OFF = 1e-12  # differences below are rounding errors [m]


def calc_order(differences: Sequence[float], ratio: float) -> float | None:
    """Returns the order p of differences d_i [m] with a ratio r > 1; None if it cannot be told."""
    if len(differences) < 2 or min(differences[-2:]) < _ROUND_OFF:
        return None
    return math.log(differences[-2] / differences[-1]) / math.log(ratio)


def is_asymptotic(order: float | None) -> bool:
    """True if the error can be extrapolated with this order."""
    return order is not None and _ASYMPTOTIC[0] <= order <= _ASYMPTOTIC[1]


def estimate_finest_error(
    differences: Sequence[float], order: float | None, ratio: float
) -> float | None:
    """Returns e_n = d_(n-1) / (r^p - 1) [m], or d_(n-1) if all are rounding errors, or None."""
    if not differences:
        return None
    if max(differences) < _ROUND_OFF:
        return differences[-1]
    if order is None or not is_asymptotic(order):
        return None
    return float(differences[-1] / (ratio**order - 1))


def find_step(
    steps: Sequence[float], errors: Sequence[float], accuracy: float, order: float | None
) -> float | None:
    """Returns the largest step whose error is at most the accuracy [s]; None if there is none.

    Between two runs the error is interpolated as a power of the step; below the finest run it is
    extrapolated with the order. Steps fall [s], and errors and accuracy are in m.
    """
    if errors[0] <= accuracy:
        return steps[0]
    for i in range(1, len(steps)):
        if errors[i] <= accuracy:
            return _interpolate(steps[i - 1 : i + 1], errors[i - 1 : i + 1], accuracy)
    if order is None or not is_asymptotic(order):
        return None
    return float(steps[-1] * (accuracy / errors[-1]) ** (1 / order))


def _interpolate(steps: Sequence[float], errors: Sequence[float], accuracy: float) -> float:
    """Returns the step at which a power of the step through two errors has a value."""
    (coarse, fine), (large, small) = steps, errors
    if small <= 0 or large <= small:
        return fine
    exponent = math.log(large / small) / math.log(coarse / fine)
    return float(min(coarse, fine * (accuracy / small) ** (1 / exponent)))
