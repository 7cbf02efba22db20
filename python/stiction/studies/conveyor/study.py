"""A box on a belt that oscillates: figures 1 to 3 of [castro2023], section IX.A."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from stiction.colours import find_colour
from stiction.experiments.conveyor import (
    CASE,
    FRICTION,
    MASS,
    RELAXATION_TIME,
    REST,
    calc_belt_position,
)
from stiction.experiments.planar import GRAVITY, STICTION_TOLERANCE, Trajectory, Vector
from stiction.experiments.planar_case import Runs, describe_convergence, list_runs
from stiction.experiments.plots import make_plot
from stiction.studies.checks import (
    Check,
    check_at_least,
    check_at_most,
    check_between,
    check_near,
)
from stiction.studies.conveyor.theory import calc_exact_motion
from stiction.studies.peers import calc_peer_distance
from stiction.studies.planar_checks import NOT_AT_A_DISTANCE, check_reference, check_runs
from stiction.studies.planar_plots import draw_contact, draw_errors
from stiction.studies.study import Settings, Study, StudyResult

STEP_SHOWN = 1e-2  # figure 2 [s]

_STRICTER = 0.1  # share of v_s at which the reference is run again


def run_study(settings: Settings) -> StudyResult:
    """All models at all steps, against `lagged` at steps far smaller and the exact solution."""
    result = StudyResult()
    coarser, reference = CASE.run_references(settings.quick, settings.tell)
    runs = CASE.run_models(settings.contact_models, settings.tell)
    errors = CASE.calc_errors(runs, reference)
    exact = calc_exact_motion(reference.time)
    settings.tell(f"reference, {_STRICTER:g} times the stiction tolerance")
    stricter = CASE.run(
        "lagged", coarser.time_step, stiction_tolerance=_STRICTER * STICTION_TOLERANCE
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
    result.checks = _make_checks(result.figures, settings, runs)
    result.checks += _check_peer(settings, reference, result)
    result.plots = {
        "fig01_box_on_belt": _draw_motion(reference, exact),
        "fig02_velocity_and_force": _draw_contact(runs),
        "fig03_convergence": draw_errors(
            {"conveyor": errors}, "rms error of x and z against the belt [m]"
        ),
    }
    return result


def _calc_exact_error(time: Vector, q: Vector) -> float:
    """Of x alone, root mean square [m]."""
    return float(np.sqrt(np.mean((q[:, 0] - calc_exact_motion(time)[:, 0]) ** 2)))


def _measure(run: Trajectory) -> dict[str, float]:
    """What figure 2 shows. Forces and velocities but of the first two steps, in which the models find
    their own equilibrium.
    """
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


def _make_checks(figures: dict[str, Any], settings: Settings, runs: Runs) -> list[Check]:
    errors, features = figures["rms_error"], figures["features"]
    checks = [
        check_reference(figures["reference_change"], errors),
        check_at_most(
            "reference to the exact solution, x rms [m]",
            figures["reference_to_exact"],
            STICTION_TOLERANCE * CASE.duration,
            "creep of v_s for all the time",
        ),
        check_at_most(
            f"that with {_STRICTER:g} v_s, share",
            figures["stricter_reference_to_exact"] / figures["reference_to_exact"],
            2 * _STRICTER,
            "creep is proportional to v_s",
        ),
        *check_runs(list_runs(runs)),
    ]
    for name in settings.pick(*NOT_AT_A_DISTANCE):
        checks += _check_no_gliding(name, errors[name][CASE.steps[-1]], features[name])
    for name in settings.pick("lagged", "lagged_regularized", "coulomb", "similar"):
        checks.append(
            check_at_least(f"order of convergence, {name}", figures["order"][name], 0.85, "fig. 3")
        )
    for name in settings.pick(*_GLIDING):
        checks += _check_gliding(name, errors[name][CASE.steps[-1]], features[name])
    for name in settings.pick("sap"):
        checks.append(
            check_at_most(
                f"order between the smallest steps, {name}",
                figures["last_order"][name],
                0.7,
                "fig. 3: a plateau; [theory:conveyor]: 0.54",
            )
        )
    for name in settings.pick(*NOT_AT_A_DISTANCE, *_GLIDING):
        checks.append(
            check_near(
                f"largest slip, {name} [m/s]",
                features[name]["max_slip"],
                figures["exact_max_slip"],
                0.02,
                "exact solution",
            )
        )
    return checks


def _check_no_gliding(name: str, error: float, features: dict[str, float]) -> list[Check]:
    limit, source = (1.3e-4, "peer: Drake's tamsi") if name == "tamsi" else (4.4e-5, "target")
    return [
        check_at_most(f"rms error at 2 ms, {name} [m]", error, limit, source),
        check_at_most(
            f"vertical motion, {name} [m/s]", features["max_normal_velocity"], 1e-9, "fig. 2: none"
        ),
        check_between(
            f"largest normal force, {name} [N]",
            features["max_normal_force"],
            MASS * GRAVITY - 1e-6,
            MASS * GRAVITY + 1e-6,
            "fig. 2: the weight",
        ),
    ]


# From an independent program, [theory:conveyor], one contact and the same start: error at 2 ms,
# smallest and largest normal force at 10 ms, largest normal velocity.
_GLIDING = {
    "similar": (9.0e-5, 9.53, 10.98, 1.7e-2),
    "sap": (2.3e-4, 9.50, 11.05, 1.8e-2),
}


def _check_gliding(name: str, error: float, features: dict[str, float]) -> list[Check]:
    prototype = "[theory:conveyor], independent program"
    wanted_error, low, high, v_n = _GLIDING[name]
    reach = STEP_SHOWN + (RELAXATION_TIME if name == "sap" else 0)
    return [
        check_near(f"rms error at 2 ms, {name} [m]", error, wanted_error, 0.2, prototype),
        check_near(
            f"smallest normal force, {name} [N]",
            features["min_normal_force"],
            low,
            5e-3,
            prototype,
        ),
        check_near(
            f"largest normal force, {name} [N]",
            features["max_normal_force"],
            high,
            5e-3,
            prototype,
        ),
        check_near(
            f"largest normal velocity, {name} [m/s]",
            features["max_normal_velocity"],
            v_n,
            0.03,
            prototype,
        ),
        check_near(
            f"gap at the largest slip, {name} [m]",
            features["gap_at_max_slip"],
            FRICTION * reach * features["max_slip"],
            0.01,
            "mu (dt + tau) |v_t|, [theory:model-properties]",
        ),
    ]


def _check_peer(settings: Settings, reference: Trajectory, result: StudyResult) -> list[Check]:
    distance = calc_peer_distance(
        settings, result, "conveyor_lagged_ref_2e-4", ("x_rel", "z"), reference
    )
    if distance is None:
        return []
    result.figures["peer_reference"] = distance
    return [
        check_at_most(
            "distance to Drake's reference [m]",
            distance,
            2e-5,
            "its own error: its scheme's at its step of 0.2 ms is 1.4e-5",
        )
    ]


def _draw_motion(reference: Trajectory, exact: Vector) -> Figure:
    figure, (left, right) = make_plot(2)
    time = reference.time
    slips = np.abs(exact[:, 1]) > 1e-9
    for axes in (left, right):
        low, high = (-0.25, 0.25) if axes is left else (-0.13, 0.13)
        axes.fill_between(
            time, low, high, where=slips, color="k", alpha=0.07, lw=0, label="slip, exact"
        )
        axes.set_ylim(low, high)
        axes.set_xlabel("time [s]")
    left.plot(time, calc_belt_position(time), color="0.5", label="belt")
    left.plot(
        time, calc_belt_position(time) + reference.x, color=find_colour("lagged"), label="box"
    )
    left.set_ylabel("x [m]")
    right.plot(time, exact[:, 1], color="0.5", lw=4, label="Coulomb, exact")
    right.plot(
        time, reference.slip_velocity, color=find_colour("lagged"), label="reference, lagged"
    )
    right.set_ylabel("slip velocity [m/s]")
    left.legend(loc="lower right", fontsize=9)
    right.legend(loc="lower right", fontsize=9)
    return figure


def _draw_contact(runs: Runs) -> Figure:
    """Of figure 2; what leaves the frame are the peaks of 'mujoco'."""
    limits = {
        "slip_velocity": (-0.13, 0.13),
        "friction_force": (-9, 9),
        "normal_velocity": (-0.025, 0.025),
        "normal_force": (8.8, 11.5),
    }
    shown = {name: of_steps[STEP_SHOWN] for name, of_steps in runs.items()}
    return draw_contact(shown, limits, (0, CASE.duration))[0]


STUDY = Study(
    name="conveyor",
    title="a box on an oscillating belt",
    run=run_study,
    plots=("fig01_box_on_belt", "fig02_velocity_and_force", "fig03_convergence"),
)
