"""A box on an oscillating belt: figures 1 to 3 of [castro2023], section IX.A."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from stiction.evidence.experiments.conveyor import CASE, REST, calc_belt_position, calc_exact_motion
from stiction.evidence.experiments.planar import STICTION_TOLERANCE, Trajectory, Vector
from stiction.evidence.experiments.planar_case import Runs, describe_convergence
from stiction.evidence.studies.conveyor.checks import STEP_SHOWN, STRICTER, check_peer, make_checks
from stiction.evidence.studies.planar_plots import draw_contact, draw_errors
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.tables.plots import find_color, make_plot

# ---- Figures 1 and 2 of [castro2023]: the box on the belt ----------------------------------------


def draw_motion(reference: Trajectory, exact: Vector) -> Figure:
    """Draws the positions of belt and box, and the slip velocity with the exact one."""
    figure, (left, right) = make_plot(2)
    time = reference.time
    slips = np.abs(exact[:, 1]) > 1e-9
    for axes in (left, right):
        low, high = (-0.25, 0.25) if axes is left else (-0.13, 0.13)
        axes.fill_between(
            time, low, high, where=slips, color="k", alpha=0.07, lw=0, label="slip, exact"
        )
        axes.set(ylim=(low, high), xlabel="time [s]")
    left.plot(time, calc_belt_position(time), color="0.5", label="belt")
    left.plot(time, calc_belt_position(time) + reference.x, color=find_color("lagged"), label="box")
    left.set_ylabel("x [m]")
    right.plot(time, exact[:, 1], color="0.5", lw=4, label="Coulomb, exact")
    right.plot(time, reference.slip_velocity, color=find_color("lagged"), label="reference, lagged")
    right.set_ylabel("slip velocity [m/s]")
    left.legend(loc="lower right", fontsize=9)
    right.legend(loc="lower right", fontsize=9)
    return figure


def draw_velocity_and_force(runs: Runs) -> Figure:
    """Draws the panels of figure 2. Their limits cut off the peaks of 'mujoco'."""
    limits = {
        "slip_velocity": (-0.13, 0.13),
        "friction_force": (-9, 9),
        "normal_velocity": (-0.025, 0.025),
        "normal_force": (8.8, 11.5),
    }
    shown = {name: of_steps[STEP_SHOWN] for name, of_steps in runs.items()}
    return draw_contact(shown, limits, (0, CASE.duration))[0]


# ---- The study -----------------------------------------------------------------------------------


def run_study(settings: Settings) -> StudyResult:
    """Compares all models and time steps with a fine reference and with the exact solution."""
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
