"""A box on an oscillating belt: figures 1 to 3 of [castro2023], section IX.A."""

from __future__ import annotations

import numpy as np

from stiction.evidence.experiments.conveyor import CASE, REST, calc_exact_motion
from stiction.evidence.experiments.planar import STICTION_TOLERANCE, Trajectory, Vector
from stiction.evidence.experiments.planar_case import describe_convergence
from stiction.evidence.studies.conveyor.checks import STRICTER, check_peer, make_checks
from stiction.evidence.studies.conveyor.plots import (
    STEP_SHOWN,
    draw_motion,
    draw_velocity_and_force,
)
from stiction.evidence.studies.planar_plots import draw_errors
from stiction.evidence.studies.study import Settings, Study, StudyResult


def run_study(settings: Settings) -> StudyResult:
    """Compares all models at all time steps with `lagged` at a far smaller one and with the exact
    solution."""
    result = StudyResult()
    coarser, reference = CASE.run_references(settings.quick, settings.tell)
    runs = CASE.run_models(settings.contact_models, settings.tell)
    errors = CASE.calc_errors(runs, reference)
    exact = calc_exact_motion(reference.time)
    settings.tell(f"reference, {STRICTER:g} times the stiction tolerance")
    stricter = CASE.run(
        "lagged", coarser.time_step, stiction_tolerance=STRICTER * STICTION_TOLERANCE
    )
    result.figures = {
        **describe_convergence(errors),
        "features": {name: _measure(of_steps[STEP_SHOWN]) for name, of_steps in runs.items()},
        "reference_step": reference.time_step,
        "reference_change": CASE.calc_error(coarser, reference),
        "reference_to_exact": _calc_exact_error(reference.time, reference.q),
        "stricter_reference_to_exact": _calc_exact_error(stricter.time, stricter.q),
        "exact_max_slip": float(np.abs(exact[:, 1]).max()),
        "exact_slip_share": float(np.mean(np.abs(exact[:, 1]) > 1e-9)),
    }
    result.checks += make_checks(result.figures, settings, runs)
    check_peer(settings, reference, result)
    result.plots = {
        "fig01_box_on_belt": draw_motion(reference, exact),
        "fig02_velocity_and_force": draw_velocity_and_force(runs),
        "fig03_convergence": draw_errors(
            {"conveyor": errors}, "RMS error of x and z on the belt [m]"
        ),
    }
    return result


def _calc_exact_error(time: Vector, q: Vector) -> float:
    """Returns the RMS distance in x to the exact solution [m]."""
    return float(np.sqrt(np.mean((q[:, 0] - calc_exact_motion(time)[:, 0]) ** 2)))


def _measure(run: Trajectory) -> dict[str, float]:
    """Measures the quantities of figure 2, without the first two steps for forces and normal
    velocities, in which each model finds its own equilibrium."""
    force, v_n = run.normal_force[2:], run.normal_velocity[2:]
    fastest = int(np.argmax(np.abs(run.slip_velocity)))
    return {
        "max_slip": float(np.abs(run.slip_velocity[fastest])),
        "slip_share": float(np.mean(np.abs(run.slip_velocity) > 2 * STICTION_TOLERANCE)),
        "gap_at_max_slip": float(run.z[fastest] - REST),
        "max_normal_velocity": float(np.abs(v_n).max()),
        "min_normal_force": float(force.min()),
        "max_normal_force": float(force.max()),
    }


STUDY = Study(
    name="conveyor",
    title="a box on an oscillating belt",
    run=run_study,
    plots=("fig01_box_on_belt", "fig02_velocity_and_force", "fig03_convergence"),
)
