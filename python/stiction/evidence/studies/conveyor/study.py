"""A box on an oscillating belt: figures 1 to 3 of [castro2023], section IX.A."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from stiction.evidence.experiments.conveyor import (
    CASE,
    FRICTION,
    MASS,
    RELAXATION_TIME,
    REST,
    calc_belt_position,
    calc_exact_motion,
)
from stiction.evidence.experiments.planar import GRAVITY, STICTION_TOLERANCE, Trajectory, Vector
from stiction.evidence.experiments.planar_case import Runs, describe_convergence, list_runs
from stiction.evidence.studies.checks import NOT_AT_A_DISTANCE, Checks, check_reference, check_runs
from stiction.evidence.studies.peers import calc_peer_distance
from stiction.evidence.studies.planar_plots import draw_contact, draw_errors
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.tables.plots import find_color, make_plot

# ---- The checks ----------------------------------------------------------------------------------

STRICTER = 0.1  # the reference is repeated with v_s multiplied by this factor
STEP_SHOWN = 1e-2  # time step of figure 2 [s]


def make_checks(figures: dict[str, Any], settings: Settings, runs: Runs) -> Checks:
    """Checks errors, orders of convergence, slip, and the effect of gliding on the normal force."""
    errors, features = figures["rms_error"], figures["features"]
    checks = Checks()
    checks += check_reference(figures["reference_change"], errors)
    what = "RMS distance in x of the reference to the exact solution [m]"
    source = "creep with v_s during the whole run"
    checks.at_most(what, figures["reference_to_exact"], STICTION_TOLERANCE * CASE.duration, source)
    what = f"ratio of this distance with {STRICTER:g} v_s to that with v_s"
    value = figures["stricter_reference_to_exact"] / figures["reference_to_exact"]
    checks.at_most(what, value, 2 * STRICTER, "creep is proportional to v_s")
    checks += check_runs(list_runs(runs))
    for name in settings.pick(*NOT_AT_A_DISTANCE):
        checks += _check_no_gliding(name, errors[name][CASE.steps[-1]], features[name])
    for name in settings.pick("lagged", "lagged_regularized", "coulomb", "similar"):
        checks.at_least(f"order of convergence, {name}", figures["order"][name], 0.85, "fig. 3")
    for name in settings.pick(*_GLIDING):
        checks += _check_gliding(name, errors[name][CASE.steps[-1]], features[name])
    for name in settings.pick("sap"):
        what = f"order between the smallest steps, {name}"
        source = "fig. 3: a plateau; [theory:conveyor]: 0.54"
        checks.at_most(what, figures["last_order"][name], 0.7, source)
    for name in settings.pick(*NOT_AT_A_DISTANCE, *_GLIDING):
        what = f"largest slip, {name} [m/s]"
        source = "exact solution"
        checks.near(what, features[name]["max_slip"], figures["exact_max_slip"], 0.02, source)
    return checks


def _check_no_gliding(name: str, error: float, features: dict[str, float]) -> Checks:
    limit, source = (1.3e-4, "peer: Drake's tamsi") if name == "tamsi" else (4.4e-5, "target")
    checks = Checks()
    checks.at_most(f"RMS error at 2 ms, {name} [m]", error, limit, source)
    what = f"largest normal velocity, {name} [m/s]"
    checks.at_most(what, features["max_normal_velocity"], 1e-9, "fig. 2: no vertical motion")
    what = f"largest normal force, {name} [N]"
    value = features["max_normal_force"]
    checks.between(what, value, MASS * GRAVITY - 1e-6, MASS * GRAVITY + 1e-6, "fig. 2: the weight")
    return checks


# Results of an independent program with one contact and the same initial state, [theory:conveyor]:
# error at 2 ms [m], smallest and largest normal force at 10 ms [N], largest normal velocity [m/s].
_GLIDING = {
    "similar": (9.0e-5, 9.53, 10.98, 1.7e-2),
    "sap": (2.3e-4, 9.50, 11.05, 1.8e-2),
}


def _check_gliding(name: str, error: float, features: dict[str, float]) -> Checks:
    prototype = "[theory:conveyor], independent program"
    wanted_error, low, high, v_n = _GLIDING[name]
    reach = STEP_SHOWN + (RELAXATION_TIME if name == "sap" else 0)
    checks = Checks()
    checks.near(f"RMS error at 2 ms, {name} [m]", error, wanted_error, 0.2, prototype)
    checks.near(
        f"smallest normal force, {name} [N]", features["min_normal_force"], low, 5e-3, prototype
    )
    checks.near(
        f"largest normal force, {name} [N]", features["max_normal_force"], high, 5e-3, prototype
    )
    what = f"largest normal velocity, {name} [m/s]"
    checks.near(what, features["max_normal_velocity"], v_n, 0.03, prototype)
    what = f"gap at the largest slip, {name} [m]"
    value = features["gap_at_max_slip"]
    source = "mu (dt + tau) |v_t|, [theory:model-properties]"
    checks.near(what, value, FRICTION * reach * features["max_slip"], 0.01, source)
    return checks


def check_peer(settings: Settings, reference: Trajectory, result: StudyResult) -> None:
    """Adds a check of the distance to Drake's reference, if its file exists."""
    file, fields = "conveyor_lagged_ref_2e-4", ("x_rel", "z")
    distance = calc_peer_distance(settings, result, file, fields, reference)
    if distance is not None:
        result.figures["peer_reference"] = distance
        source = "Drake's own error with its time step of 0.2 ms is 1.4e-5"
        result.checks.at_most("distance to Drake's reference [m]", distance, 2e-5, source)


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
