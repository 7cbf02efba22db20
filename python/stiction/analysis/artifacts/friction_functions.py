"""The functions of regularized friction, by the name of their law.

    law          share f(s)                  integral F(s)
    soft         s / sqrt(1 + s^2)           sqrt(1 + s^2) - 1
    quadratic    s (2 - s), 1 from s = 1     s^2 - s^3 / 3, s - 1/3 from s = 1
    arctan       2/pi atan s                 2/pi (s atan s - ln(1 + s^2) / 2)

s is the slip speed in units of the slip tolerance eps. The share f(s) of the friction bound acts at that
slip, and eps F(s) is the soft norm of the slip, by which `similar` moves its normal law. The solver has
its own copy in C++, so that predictions do not repeat its mistakes.
Source: [castro2023] section V; [theory:friction-regularization].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stiction._core import calc_friction_law

Law = str | Mapping[str, Any]


@dataclass(frozen=True)
class FrictionFunction:
    """A friction law as functions of s >= 0: the share f, its inverse `slip`, and the integral F."""

    share: Callable[[Any], Any]
    slip: Callable[[float], float]
    integral: Callable[[float], float]

    def calc_soft_norm(self, speed: float, tolerance: float) -> float:
        """Returns eps F(|v_t| / eps), which is |v_t| far above the tolerance and 0 far below it [m/s]."""
        return tolerance * self.integral(speed / tolerance)


def find_friction_function(law: Law) -> FrictionFunction:
    """Returns the functions of a law: its name, which is not 'elastic', or the content of its table."""
    return _NAMED[law] if isinstance(law, str) else _tabulate(law)


_NAMED = {
    "soft": FrictionFunction(
        share=lambda s: s / np.hypot(1, s),
        slip=lambda rho: float(rho / np.sqrt(1 - rho * rho)),
        integral=lambda s: float(s * s / (1 + np.hypot(1, s))),
    ),
    "quadratic": FrictionFunction(
        share=lambda s: np.where(s < 1, s * (2 - s), 1.0),
        slip=lambda rho: float(rho / (1 + np.sqrt(1 - rho))),
        integral=lambda s: s * s * (1 - s / 3) if s < 1 else s - 1 / 3,
    ),
    "arctan": FrictionFunction(
        share=lambda s: 2 / np.pi * np.arctan(s),
        slip=lambda rho: float(np.tan(np.pi / 2 * rho)),
        integral=lambda s: float(2 / np.pi * (s * np.arctan(s) - 0.5 * np.log1p(s * s))),
    ),
}


def _tabulate(content: Mapping[str, Any]) -> FrictionFunction:
    table, knots = dict(content), np.asarray(content["slip"], float)

    def calc_share(s: Any) -> Any:
        values = calc_friction_law(table, np.ravel(s).tolist())
        return np.reshape(values, np.shape(s))[()]

    def find_slip(share: float) -> float:
        low, high = 0.0, float(knots[-1])
        while high - low > 1e-14 * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if calc_share(middle) < share else (low, middle)
        return 0.5 * (low + high)

    def integrate(s: float) -> float:
        ends = np.append(knots[knots < s], s)
        ends = np.append(ends[ends < knots[-1]], min(s, knots[-1]))
        f, middle = calc_share(ends), calc_share(0.5 * (ends[1:] + ends[:-1]))
        # Simpson's rule is exact for the cubics between the knots. Beyond the last one f is 1.
        inside = np.sum(np.diff(ends) * (f[1:] + f[:-1] + 4 * middle)) / 6
        return float(inside + max(s - knots[-1], 0.0))

    return FrictionFunction(calc_share, find_slip, integrate)
