"""Checks of the results of the falling sphere."""

from __future__ import annotations

from typing import Any

from stiction.evidence.experiments.falling_sphere import (
    CASE,
    DISSIPATION,
    FRICTION,
    RELAXATION_TIME,
    ROLLING_SPEED,
    ROLLING_TIME,
)
from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.planar_case import Runs, list_runs
from stiction.evidence.studies.checks import NOT_AT_A_DISTANCE, Checks, check_reference, check_runs
from stiction.evidence.studies.peers import calc_peer_distance
from stiction.evidence.studies.study import Settings, StudyResult

STEP_SHOWN = 2e-3  # time step of figure 5 [s]


def make_checks(figures: dict[str, Any], settings: Settings, runs: Runs) -> Checks:
    """Checks errors, orders of convergence, the start of rolling, and the order of first touches."""
    errors, features = figures["rms_error"], figures["features"]
    closed_form = "2 U0 / (7 mu g)"
    reference = figures["reference_features"]
    checks = Checks()
    checks += check_reference(figures["reference_change"], errors)
    checks.near(
        "rolling time, reference [s]", reference["rolling_time"], ROLLING_TIME, 1e-3, closed_form
    )
    what = "speed at the end, reference [m/s]"
    checks.near(what, reference["speed_at_end"], ROLLING_SPEED, 1e-4, "5 U0 / 7")
    what = "RMS distance of the reference to the rigid solution [m]"
    value = figures["reference_to_rigid"]
    checks.at_most(what, value, 5e-5, "penetration of 2.5e-5 at the impact, and its time")
    checks += check_runs(list_runs(runs))
    # The target is meant for 'coulomb' and was measured with Drake's tamsi. With speculative
    # contacts the lagged models reach it, too.
    for name in settings.pick(*NOT_AT_A_DISTANCE):
        for step, limit in ((2e-3, 5.8e-4), (4e-4, 1.3e-4)):
            what = f"RMS error at {1e3 * step:g} ms, {name} [m]"
            checks.at_most(what, errors[name][step], limit, "target; peer: Drake's tamsi")
    for name in settings.pick(*NOT_AT_A_DISTANCE, "similar", "sap"):
        rolls = features[name]["rolling_time"]
        source = f"{closed_form}; target"
        checks.near(f"rolling time at 2 ms, {name} [s]", rolls, ROLLING_TIME, 0.02, source)
    for name in settings.pick(*NOT_AT_A_DISTANCE, "similar"):
        order = figures["last_order"][name]
        checks.at_least(f"order of convergence, {name}", order, 0.85, "fig. 6")
    for name in settings.pick("sap"):
        order = figures["last_order"][name]
        checks.at_most(f"order of convergence, {name}", order, 0.5, "fig. 6: a constant error")
    checks += _check_distance(settings, figures)
    return checks


def _check_distance(settings: Settings, figures: dict[str, Any]) -> Checks:
    """Checks the order of first touches, and the gap below a sliding sphere."""
    features, finest = figures["features"], figures["features_at_smallest_step"]
    checks = Checks()
    for name in settings.pick("sap", "similar"):
        tau = RELAXATION_TIME if name == "sap" else 0.0
        middle = finest[name]
        what = f"gap + tau v_n midway through the slip at 0.4 ms, {name} [m]"
        value = middle["middle_gap"] + tau * middle["middle_normal_velocity"]
        expected = FRICTION * (CASE.steps[-1] + tau) * abs(middle["middle_slip"])
        source = "mu (dt + tau) |v_t|, [theory:model-properties]"
        checks.near(what, value, expected, 0.02, source)
    for name in settings.pick(*NOT_AT_A_DISTANCE):
        v_n = features[name]["middle_normal_velocity"]
        what = f"normal velocity during slip, {name} [m/s]"
        source = "fig. 5: zero; limit: Hunt-Crossley's exit velocity 1/d"
        checks.at_most(what, None if v_n is None else abs(v_n), 1 / DISSIPATION, source)
    if {"sap", "similar", "lagged"} <= features.keys():
        first = {name: features[name]["first_touch"] for name in ("sap", "similar", "lagged")}
        for earlier, later in (("sap", "similar"), ("similar", "lagged")):
            what = f"delay of the first touch, {later} after {earlier} [s]"
            checks.at_least(what, first[later] - first[earlier], 0.5 * STEP_SHOWN, "fig. 5")
    return checks


def check_peer(settings: Settings, reference: Trajectory, result: StudyResult) -> None:
    """Adds a check of the distance to Drake's reference, if its file exists."""
    file, fields = "sphere_tamsi_ref_4e-6_every10", ("x", "z")
    distance = calc_peer_distance(settings, result, file, fields, reference)
    if distance is not None:
        result.figures["peer_reference"] = distance
        source = "Drake's own error, 1.2e-4 at 0.4 ms with order 1"
        result.checks.at_most("distance to Drake's tamsi at 4 us [m]", distance, 5e-6, source)
