"""Normal laws and friction laws of a user, as tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stiction._core import calc_friction_law, calc_normal_law, calc_spline
from stiction.errors import Error
from stiction.inputs.arguments import check_number

Function = Callable[[float], float]
Table = Function | Sequence[float]

_MAX_KNOTS = 5000
_FINEST = 1e-13  # smallest interval between two knots, as a share of the sampled range


class NormalLaw:
    """A normal law f(x, xdot) = F(x) D(xdot) of the penetration x and its rate xdot.

        spring = stiction.NormalLaw(lambda x: 1e9 * x**2, max_penetration=0.01)
        stiction.Simulator(model, normal_law=spring)
        table = stiction.NormalLaw([0, 5, 40], penetration=[0, 0.001, 0.004])

    The solver does not call Python. A function is sampled once, at as many points as it takes, and the
    step interpolates its values with cubics that never decrease. F is 0 before the first point, and
    continues along its tangent after the last one. D is constant before its first point.

    Args:
        force: F [N] as a function of x, or its values at `penetration`. It must not decrease, and its
            first value must be 0, because the law would otherwise act at any distance.
        penetration: increasing penetrations [m], negative while bodies are apart; for values.
        max_penetration: the largest penetration at which a function is sampled [m].
        reach: distance at which a function begins to act, before bodies touch, >= 0 [m].
        dissipation: d >= 0 of D = max(0, 1 + d xdot) [s/m], if there is no factor.
        factor: D [-] as a function of xdot, or its values at `rate`. It must not decrease, nor be
            negative.
        rate: increasing rates [m/s]; for values of the factor.
        max_rate: the largest approach and separation speed at which a factor is sampled [m/s].
        tolerance: largest error of interpolated functions, relative to their largest value.

    Attributes:
        max_error: the largest difference of F to its function at the points where it was compared, a
            dozen in each interval [N]; 0 for values.
        max_factor_error: the same of D [-].

    Raises:
        Error: a table is no law, with its entry; or a function needs more than 5000 points.
    """

    def __init__(
        self,
        force: Table,
        *,
        penetration: Sequence[float] | None = None,
        max_penetration: float | None = None,
        reach: float = 0.0,
        dissipation: float = 0.0,
        factor: Table | None = None,
        rate: Sequence[float] | None = None,
        max_rate: float | None = None,
        tolerance: float = 1e-6,
    ) -> None:
        check = _Sampling(check_number("tolerance", tolerance))
        if not callable(force):
            _refuse({"reach": reach or None}, "force is a table, which begins where it acts")
        elif not 0 <= check_number("reach", reach) < math.inf:
            raise Error("invalid_value", "reach", f"is {reach:g}, must be finite and at least 0")
        x, F, self.max_error = check.tabulate(
            "force",
            force,
            "penetration",
            penetration,
            (-float(reach), max_penetration, "max_penetration"),
        )
        self._content: dict[str, Any] = {"penetration": x, "force": F}
        self.max_factor_error = 0.0
        if factor is None:
            _refuse({"rate": rate, "max_rate": max_rate}, "there is no factor")
        if dissipation != 0 or factor is None:
            self._content["dissipation"] = check_number("dissipation", dissipation)
        if factor is not None:
            low = None if max_rate is None else -check_number("max_rate", max_rate)
            xdot, D, self.max_factor_error = check.tabulate(
                "factor", factor, "rate", rate, (low or 0.0, max_rate, "max_rate")
            )
            self._content |= {"rate": xdot, "factor": D}
        calc_normal_law(self._content, [], [])  # checks the tables

    @property
    def content(self) -> dict[str, Any]:
        """The tables as a dict, fit for JSON and for the section `normal_law` of a properties file."""
        return dict(self._content)

    def calc_force(self, x: float, xdot: float = 0.0) -> float:
        """Returns the force of the step's law [N] at a penetration [m] and its rate [m/s]."""
        f, _, _ = calc_normal_law(self._content, [float(x)], [float(xdot)])
        return float(f[0])

    def calc_derivatives(self, x: float, xdot: float = 0.0) -> tuple[float, float]:
        """Returns df/dx [N/m] and df/dxdot [N s/m] at a penetration [m] and its rate [m/s]."""
        _, df_dx, df_dxdot = calc_normal_law(self._content, [float(x)], [float(xdot)])
        return float(df_dx[0]), float(df_dxdot[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NormalLaw) and self._content == other._content

    def __hash__(self) -> int:
        return hash(repr(self._content))

    def __repr__(self) -> str:
        x, f = self._content["penetration"], self._content["force"]
        return f"NormalLaw({len(x)} points from {x[0]:g} to {x[-1]:g} m, up to {f[-1]:g} N)"


class FrictionLaw:
    """A friction law f(s): the share of Coulomb's friction at the slip s, in slip tolerances.

        stiction.Simulator(model, friction_law=stiction.FrictionLaw([0, 0.8, 1], slip=[0, 0.5, 1]))
        stiction.Simulator(model, friction_law=stiction.FrictionLaw(math.tanh, max_slip=20))

    Args:
        friction: f [-] as a function of s, or its values at `slip`. It rises from 0 to 1 and never
            decreases, while f / s never increases.
        slip: increasing slips from 0 [-]; for values.
        max_slip: the slip at which a function reaches 1, at least within a thousandth. The table ends
            with 1 there [-].
        tolerance: largest error of an interpolated function [-].

    Attributes:
        max_error: the largest difference to the function at the points where it was compared [-].

    Raises:
        Error: a table is no friction law, with its entry; or a function needs more than 5000 points.
    """

    def __init__(
        self,
        friction: Table,
        *,
        slip: Sequence[float] | None = None,
        max_slip: float | None = None,
        tolerance: float = 1e-6,
    ) -> None:
        s, f, self.max_error = _Sampling(check_number("tolerance", tolerance)).tabulate(
            "friction", friction, "slip", slip, (0.0, max_slip, "max_slip")
        )
        if callable(friction):
            if not abs(f[-1] - 1) <= 1e-3:
                raise Error(
                    "invalid_value",
                    "friction",
                    f"is {f[-1]:g} at max_slip, must be 1 within 0.001; sample it up to a larger slip",
                )
            self.max_error = max(self.max_error, abs(f[-1] - 1))
            f = [min(value, 1.0) for value in f[:-1]] + [1.0]
        self._content = {"slip": s, "friction": f}
        calc_friction_law(self._content, [])  # checks the table

    @property
    def content(self) -> dict[str, Any]:
        """The table as a dict, fit for JSON and for the section `friction_law` of a properties file."""
        return dict(self._content)

    def calc_share(self, slip: float) -> float:
        """Returns f at a slip >= 0 in slip tolerances [-]."""
        return float(calc_friction_law(self._content, [float(slip)])[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrictionLaw) and self._content == other._content

    def __hash__(self) -> int:
        return hash(repr(self._content))

    def __repr__(self) -> str:
        s = self._content["slip"]
        return f"FrictionLaw({len(s)} points up to {s[-1]:g} slip tolerances)"


def check_law(name: str, value: Any) -> str | dict[str, Any]:
    """Returns the value of an option normal_law or friction_law: a name or the content of a table."""
    kind = NormalLaw if name == "normal_law" else FrictionLaw
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        try:
            value = kind(**value)
        except TypeError as e:
            raise Error("unknown_name", name, f"{e}; write the content of a {kind.__name__}") from e
    if isinstance(value, kind):
        return value.content
    raise Error(
        "wrong_shape",
        name,
        f"is {value!r}, must be a name, a stiction.{kind.__name__} or its content",
    )


class _Sampling:
    """Makes tables of functions."""

    def __init__(self, tolerance: float) -> None:
        if not tolerance > 0:
            raise Error("invalid_value", "tolerance", f"is {tolerance:g}, must be above 0")
        self._tolerance = tolerance

    def tabulate(
        self,
        name: str,
        table: Table,
        knots_name: str,
        knots: Sequence[float] | None,
        bounds: tuple[float, float | None, str],
    ) -> tuple[list[float], list[float], float]:
        """Returns knots, values, and the largest error of a table or a function."""
        low, high, high_name = bounds
        if not callable(table):
            if knots is None:
                raise Error(
                    "wrong_shape", knots_name, f"is None; give it with the values of {name}"
                )
            _refuse({high_name: high}, f"{name} is a table, which is not sampled")
            x, y = _to_floats(knots_name, knots), _to_floats(name, table)
            return x, y, 0.0
        _refuse({knots_name: knots}, f"{name} is a function")
        if high is None:
            raise Error("wrong_shape", high_name, f"is None; give it if {name} is a function")
        high = check_number(high_name, high)
        if not (high < math.inf and low + _FINEST * (high - low) > low):
            least = f"{low + 0.0:g}"  # the sum has no -0
            if low < high < math.inf:
                least += " by more than round-off"
            raise Error(
                "invalid_value",
                high_name,
                f"is {high:g}, must be finite and above {least}",
            )
        return self._sample(name, table, low, high)

    def _sample(
        self, name: str, f: Function, low: float, high: float
    ) -> tuple[list[float], list[float], float]:
        """Adds points between the present ones until the interpolated function is exact enough."""
        values = {low + (high - low) * i / 16: 0.0 for i in range(17)}
        if low < 0 < high:
            values[0.0] = 0.0
        values = {x: check_number(name, f(x)) for x in values}
        shares = [(i + 0.5) / 12 for i in range(12)]  # of an interval, at which it is compared
        while True:
            knots = sorted(values)
            y = [values[x] for x in knots]
            size = max(abs(value) for value in y)
            points = [a + share * (b - a) for a, b in itertools.pairwise(knots) for share in shares]
            found = calc_spline(name, knots, y, points)
            errors = [abs(found[i] - check_number(name, f(x))) for i, x in enumerate(points)]
            bad = {i // 12 for i, error in enumerate(errors) if not error <= self._tolerance * size}
            for i in sorted(bad):
                if knots[i + 1] - knots[i] <= _FINEST * (high - low):
                    raise Error(
                        "invalid_value",
                        name,
                        f"jumps from {y[i]:g} to {y[i + 1]:g} at {knots[i]:g}; a law must be "
                        "continuous, so spread the jump over an interval",
                    )
            if not bad:
                return knots, y, max(errors)
            if len(knots) + len(bad) > _MAX_KNOTS:
                raise Error(
                    "invalid_value",
                    name,
                    f"needs more than {_MAX_KNOTS} points for a tolerance of {self._tolerance:g}; "
                    "use a larger tolerance, or a smoother function",
                )
            for i in bad:
                middle = 0.5 * (knots[i] + knots[i + 1])
                values[middle] = check_number(name, f(middle))


def _refuse(arguments: Mapping[str, Any], reason: str) -> None:
    """Raises Error for the first argument that is not None."""
    for name, value in arguments.items():
        if value is not None:
            raise Error("invalid_value", name, f"has no meaning, because {reason}; leave it out")


def _to_floats(name: str, values: Sequence[float]) -> list[float]:
    try:
        return [check_number(f"{name}[{i}]", value) for i, value in enumerate(values)]
    except TypeError as e:
        raise Error("wrong_shape", name, f"is {values!r}, must be numbers, or a function") from e
