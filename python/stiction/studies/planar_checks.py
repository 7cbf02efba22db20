"""Checks that the planar studies share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stiction.experiments.planar import Trajectory
from stiction.studies.checks import Check, check_at_most

# Models whose normal force does not depend on slip: they leave no gap below a body that slides.
NOT_AT_A_DISTANCE = ("lagged", "lagged_regularized", "tamsi", "coulomb")

# The reference's own error may be this share of the smallest error that is measured with it.
_REFERENCE_SHARE = 0.2


def check_reference(change: float, errors: Mapping[str, Mapping[float, float]]) -> Check:
    """The reference at two steps, one half the other: at order 1 its error is their difference."""
    smallest = min(e for of_steps in errors.values() for e in of_steps.values())
    return check_at_most(
        "change of the reference when its step is halved",
        change,
        _REFERENCE_SHARE * smallest,
        f"{_REFERENCE_SHARE:g} of the smallest error measured",
    )


def check_runs(runs: Sequence[Trajectory]) -> list[Check]:
    """What all runs of a study must do."""
    return [_check_steps(runs), *_check_coupling(runs)]


def _check_steps(runs: Sequence[Trajectory]) -> Check:
    """Every step converged and passed its certificate."""
    failed = sum(sum(run.status.values()) for run in runs)
    return check_at_most(
        "steps that failed, all models", failed, 0, "every step has its certificate"
    )


def _check_coupling(runs: Sequence[Trajectory]) -> list[Check]:
    """The normal impulse that bounds friction is that of the step, of models that say so."""
    worst: dict[str, float] = {}
    for run in runs:
        if run.contact_model == "coulomb":
            worst[run.contact_model] = max(worst.get(run.contact_model, 0.0), run.coupling_error)
    return [
        check_at_most(f"coupling error, {name}", value, 1e-3, "target of the model")
        for name, value in worst.items()
    ]
