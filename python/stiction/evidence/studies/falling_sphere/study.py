"""A sphere that falls, slides and rolls: figures 4 to 6 of [castro2023], section IX.B."""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.experiments.convergence import calc_rms_error
from stiction.evidence.experiments.falling_sphere import CASE, RADIUS, calc_rigid_motion
from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.planar_case import describe_convergence
from stiction.evidence.studies.falling_sphere.checks import check_peer, make_checks
from stiction.evidence.studies.falling_sphere.plots import (
    STEP_SHOWN,
    draw_motion,
    draw_velocity_and_force,
)
from stiction.evidence.studies.planar_plots import draw_errors
from stiction.evidence.studies.study import Settings, Study, StudyResult


def run_study(settings: Settings) -> StudyResult:
    """Compares all models at all time steps with `lagged` at a far smaller one and with the rigid
    solution."""
    result = StudyResult()
    coarser, reference = CASE.run_references(settings.quick, settings.tell)
    runs = CASE.run_models(settings.contact_models, settings.tell)
    errors = CASE.calc_errors(runs, reference)
    rigid = calc_rigid_motion(reference.time)
    result.figures = {
        **describe_convergence(errors),
        "rms_error_theta": CASE.calc_errors(runs, reference, (2,)),
        "features": {name: _measure(of_steps[STEP_SHOWN]) for name, of_steps in runs.items()},
        "features_at_smallest_step": {
            name: _measure(of_steps[CASE.steps[-1]]) for name, of_steps in runs.items()
        },
        "reference_step": reference.time_step,
        "reference_change": CASE.calc_error(coarser, reference),
        "reference_features": _measure(reference),
        "reference_to_rigid": calc_rms_error(
            reference.time, reference.q[:, :2], reference.time, rigid[:, :2]
        ),
    }
    result.checks += make_checks(result.figures, settings, runs)
    check_peer(settings, reference, result)
    result.plots = {
        "fig04_sphere": draw_motion(reference),
        "fig05_velocity_and_force": draw_velocity_and_force(runs),
        "fig06_convergence": draw_errors({"sphere": errors}, "RMS error of x and z [m]"),
    }
    return result


def calc_rolling_time(run: Trajectory) -> float | None:
    """Returns the time at which the slip of the lowest point ends [s], extrapolated from the last
    two samples with slip, or None."""
    slip = run.v[:, 0] + RADIUS * run.v[:, 2]
    slides = np.nonzero(slip > 1e-3)[0]
    last = int(slides[-1])
    if last < 2 or last == len(slip) - 1:
        return None
    rate = slip[last - 1] - slip[last]
    share = min(1.0, slip[last] / rate) if rate > 0 else 1.0
    return float(run.time[last] + share * (run.time[last] - run.time[last - 1]))


def _measure(run: Trajectory) -> dict[str, float | None]:
    """Measures the quantities of figure 5. 'middle_...' is midway through the slip, far from impact
    and rolling."""
    touches = np.nonzero(run.normal_force > 0)[0]
    first = float(run.time[touches[0]]) if len(touches) else math.nan
    rolls = calc_rolling_time(run)
    middle = None if rolls is None else round(0.5 * (first + rolls) / run.time[1])
    return {
        "first_touch": first,
        "rolling_time": rolls,
        "speed_at_end": float(run.v[-1, 0]),
        "middle_slip": None if middle is None else float(run.slip_velocity[middle]),
        "middle_gap": None if middle is None else float(run.z[middle] - RADIUS),
        "middle_normal_velocity": None if middle is None else float(run.normal_velocity[middle]),
    }


STUDY = Study(
    name="falling_sphere",
    title="a sphere that falls, slides and rolls",
    run=run_study,
    plots=("fig04_sphere", "fig05_velocity_and_force", "fig06_convergence"),
)
