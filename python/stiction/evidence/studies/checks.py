"""Checks of a study: an expectation, the measured value, and whether it passed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stiction.evidence.experiments.planar import Trajectory
from stiction.inputs.names import find_models


@dataclass(frozen=True)
class Check:
    """One check."""

    name: str  # name of the measured quantity, with its unit
    value: float | None  # measured value; None if nothing could be measured, which fails
    wanted: str  # the required value, as text
    passed: bool  # whether the value is as required
    source: str  # where the requirement comes from
    # Whether the value is known not to be as required. Then `passed` means that it still is not.
    is_known_miss: bool = False


class Checks(list[Check]):
    """The checks of a study. NaN and None fail every check."""

    def at_most(self, name: str, value: float | None, limit: float, source: str) -> None:
        """Adds a check that passes if value <= limit."""
        passed = value is not None and value <= limit
        self.append(Check(name, value, f"<= {limit:.4g}", passed, source))

    def known_miss(self, name: str, value: float | None, limit: float, source: str) -> None:
        """Adds a requirement value <= limit that the documentation says is missed. The check fails
        once it holds, so that the documentation follows."""
        passed = value is not None and value > limit
        self.append(Check(name, value, f"<= {limit:.4g}", passed, source, is_known_miss=True))

    def at_least(self, name: str, value: float | None, limit: float, source: str) -> None:
        """Adds a check that passes if value >= limit."""
        passed = value is not None and value >= limit
        self.append(Check(name, value, f">= {limit:.4g}", passed, source))

    def between(self, name: str, value: float | None, low: float, high: float, source: str) -> None:
        """Adds a check that passes if low <= value <= high."""
        passed = value is not None and low <= value <= high
        self.append(Check(name, value, f"{low:.4g} .. {high:.4g}", passed, source))

    def near(
        self, name: str, value: float | None, expected: float, relative: float, source: str
    ) -> None:
        """Adds a check that passes if |value - expected| <= relative |expected|."""
        passed = value is not None and abs(value - expected) <= relative * abs(expected)
        wanted = f"{expected:.4g} within {100 * relative:.3g} %"
        self.append(Check(name, value, wanted, passed, source))


def format_value(check: Check) -> str:
    """Formats the value with four digits; '-' stands for None."""
    if check.value is None:
        return "-"
    return str(check.value) if math.isinf(check.value) else f"{check.value:.4g}"


# ---- Checks that the planar studies share --------------------------------------------------------

# Models that do not act at a distance: their normal force does not depend on slip, so a sliding
# body has no gap below it.
NOT_AT_A_DISTANCE = find_models(
    lambda model: not (model.is_rigid or model.is_mj_step or model.lifts_sliding)
)

# The reference's own error may be this fraction of the smallest error that is measured with it.
_REFERENCE_SHARE = 0.2


def check_reference(change: float, errors: Mapping[str, Mapping[float, float]]) -> Checks:
    """Checks that the reference has converged. At order 1, the difference between the reference
    and a run with twice its time step is the reference's error."""
    checks = Checks()
    smallest = min(e for of_steps in errors.values() for e in of_steps.values())
    source = f"{_REFERENCE_SHARE:g} of the smallest error measured"
    name = "change of the reference when its step is halved"
    checks.at_most(name, change, _REFERENCE_SHARE * smallest, source)
    return checks


def check_runs(runs: Sequence[Trajectory]) -> Checks:
    """Checks that all steps pass, and that 'coulomb' bounds friction by the same step's force."""
    checks = Checks()
    failed = sum(sum(run.status.values()) for run in runs)
    source = "every step must pass its certificate"
    checks.at_most("number of failed steps, all models", failed, 0, source)
    errors = [run.coupling_error for run in runs if run.contact_model == "coulomb"]
    if errors:
        worst = max(0.0, *errors)
        checks.at_most("coupling error, coulomb", worst, 1e-3, "target of the model")
    return checks
