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


def check_at_most(name: str, value: float | None, limit: float, source: str) -> Check:
    """Returns a check that passes if value <= limit. NaN and None fail."""
    return Check(name, value, f"<= {limit:.4g}", value is not None and value <= limit, source)


def check_at_least(name: str, value: float | None, limit: float, source: str) -> Check:
    """Returns a check that passes if value >= limit. NaN and None fail."""
    return Check(name, value, f">= {limit:.4g}", value is not None and value >= limit, source)


def check_between(name: str, value: float | None, low: float, high: float, source: str) -> Check:
    """Returns a check that passes if low <= value <= high. NaN and None fail."""
    passed = value is not None and low <= value <= high
    return Check(name, value, f"{low:.4g} .. {high:.4g}", passed, source)


def check_near(
    name: str, value: float | None, expected: float, relative: float, source: str
) -> Check:
    """Returns a check that passes if |value - expected| <= relative |expected|. NaN and None fail."""
    passed = value is not None and abs(value - expected) <= relative * abs(expected)
    percent = f"{100 * relative:.3g} %"
    return Check(name, value, f"{expected:.4g} within {percent}", passed, source)


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


def check_reference(change: float, errors: Mapping[str, Mapping[float, float]]) -> Check:
    """Checks that the reference has converged.

    At order 1, the difference between the reference and a run with twice its time step is the
    reference's error.
    """
    smallest = min(e for of_steps in errors.values() for e in of_steps.values())
    return check_at_most(
        "change of the reference when its step is halved",
        change,
        _REFERENCE_SHARE * smallest,
        f"{_REFERENCE_SHARE:g} of the smallest error measured",
    )


def check_runs(runs: Sequence[Trajectory]) -> list[Check]:
    """Checks that apply to all runs of a study."""
    return [_check_steps(runs), *_check_coupling(runs)]


def _check_steps(runs: Sequence[Trajectory]) -> Check:
    """Checks that every step converged and passed its certificate."""
    failed = sum(sum(run.status.values()) for run in runs)
    return check_at_most(
        "number of failed steps, all models", failed, 0, "every step must pass its certificate"
    )


def _check_coupling(runs: Sequence[Trajectory]) -> list[Check]:
    """Checks that 'coulomb' bounds friction by the normal impulse of the same step."""
    worst: dict[str, float] = {}
    for run in runs:
        if run.contact_model == "coulomb":
            worst[run.contact_model] = max(worst.get(run.contact_model, 0.0), run.coupling_error)
    return [
        check_at_most(f"coupling error, {name}", value, 1e-3, "target of the model")
        for name, value in worst.items()
    ]
