"""Checks of the results of the conveyor."""

from __future__ import annotations

from typing import Any

from stiction.evidence.experiments.conveyor import CASE, FRICTION, MASS, RELAXATION_TIME
from stiction.evidence.experiments.planar import GRAVITY, STICTION_TOLERANCE, Trajectory
from stiction.evidence.experiments.planar_case import Runs, list_runs
from stiction.evidence.studies.checks import (
    NOT_AT_A_DISTANCE,
    Check,
    check_at_least,
    check_at_most,
    check_between,
    check_near,
    check_reference,
    check_runs,
)
from stiction.evidence.studies.conveyor.plots import STEP_SHOWN
from stiction.evidence.studies.peers import calc_peer_distance
from stiction.evidence.studies.study import Settings, StudyResult

STRICTER = 0.1  # the reference is repeated with v_s multiplied by this factor


def make_checks(figures: dict[str, Any], settings: Settings, runs: Runs) -> list[Check]:
    """Checks errors, orders of convergence, slip, and the effect of gliding on the normal force."""
    errors, features = figures["rms_error"], figures["features"]
    checks = [
        check_reference(figures["reference_change"], errors),
        check_at_most(
            "RMS distance in x of the reference to the exact solution [m]",
            figures["reference_to_exact"],
            STICTION_TOLERANCE * CASE.duration,
            "creep with v_s during the whole run",
        ),
        check_at_most(
            f"ratio of this distance with {STRICTER:g} v_s to that with v_s",
            figures["stricter_reference_to_exact"] / figures["reference_to_exact"],
            2 * STRICTER,
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
        check_at_most(f"RMS error at 2 ms, {name} [m]", error, limit, source),
        check_at_most(
            f"largest normal velocity, {name} [m/s]",
            features["max_normal_velocity"],
            1e-9,
            "fig. 2: no vertical motion",
        ),
        check_between(
            f"largest normal force, {name} [N]",
            features["max_normal_force"],
            MASS * GRAVITY - 1e-6,
            MASS * GRAVITY + 1e-6,
            "fig. 2: the weight",
        ),
    ]


# Results of an independent program with one contact and the same initial state, [theory:conveyor]:
# error at 2 ms [m], smallest and largest normal force at 10 ms [N], largest normal velocity [m/s].
_GLIDING = {
    "similar": (9.0e-5, 9.53, 10.98, 1.7e-2),
    "sap": (2.3e-4, 9.50, 11.05, 1.8e-2),
}


def _check_gliding(name: str, error: float, features: dict[str, float]) -> list[Check]:
    prototype = "[theory:conveyor], independent program"
    wanted_error, low, high, v_n = _GLIDING[name]
    reach = STEP_SHOWN + (RELAXATION_TIME if name == "sap" else 0)
    return [
        check_near(f"RMS error at 2 ms, {name} [m]", error, wanted_error, 0.2, prototype),
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


def check_peer(settings: Settings, reference: Trajectory, result: StudyResult) -> list[Check]:
    """Checks the distance to Drake's reference, if its file exists."""
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
            "Drake's own error with its time step of 0.2 ms is 1.4e-5",
        )
    ]
