"""Checks of the results of the sliding rod."""

from __future__ import annotations

import math
from typing import Any

from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.planar_case import Runs, list_runs
from stiction.evidence.experiments.sliding_rod import (
    CASES,
    DISSIPATIONS,
    FRICTION,
    SPEED,
    calc_painleve_margin,
)
from stiction.evidence.studies.checks import Checks, check_reference, check_runs
from stiction.evidence.studies.peers import calc_peer_distance
from stiction.evidence.studies.study import Settings, StudyResult

_COARSEST = CASES["without"].steps[0]  # largest time step [s]


def make_checks(
    settings: Settings,
    figures: dict[str, Any],
    runs: dict[str, Runs],
    fine: dict[str, dict[str, Trajectory]],
) -> Checks:
    """Checks both cases and the thin rod."""
    everything = [run for of_case in runs.values() for run in list_runs(of_case)]
    everything += [run for of_case in fine.values() for run in of_case.values()]
    checks = Checks()
    for name in CASES:
        checks += check_reference(figures[name]["reference_change"], figures[name]["rms_error"])
    checks += check_runs(everything)
    reference = figures["without"]["reference_jam"]
    checks.near("force of the jam, reference [N]", reference["force"], 812, 0.01, "peer: Drake")
    checks.near("time of the jam, reference [s]", reference["time"], 17.4e-3, 0.01, "peer: Drake")
    what = "duration of stiction in the jam, reference [s]"
    checks.near(what, reference["stiction"], 0.2e-3, 0.15, "section IX.C: 0.2 ms")
    what = "margin of Painleve's condition at the jam [-]"
    source = "3 mu sin cos >= 1 + 3 cos^2, [theory:painleve]"
    checks.at_least(what, calc_painleve_margin(math.radians(reference["angle_deg"])), 0.0, source)
    checks += _check_steps_of_models(settings, figures)
    checks += _check_dissipation(settings, figures)
    checks += _check_thin_rod(settings, figures["thin_rod"])
    return checks


def _check_steps_of_models(settings: Settings, figures: dict[str, Any]) -> Checks:
    checks = Checks()
    without = figures["without"]
    # The targets of 'coulomb' are Stiction's own; those of 'tamsi' are results of Drake's tamsi.
    for name in settings.pick("coulomb", "tamsi"):
        what = f"RMS error at 0.64 ms, {name} [m, rad]"
        source = "target; peer: Drake's tamsi, 0.054"
        checks.at_most(what, without["rms_error"][name][_COARSEST], 0.055, source)
        what = f"force of the jam at 0.64 ms, {name} [N]"
        source = "target; peer: Drake's tamsi, 674 N"
        checks.at_least(what, without["jam"][name][_COARSEST]["force"], 300, source)
    for name in settings.pick("lagged"):
        errors = without["rms_error"]
        what = f"force of the jam at 0.64 ms, which {name} misses [N]"
        source = "fig. 12, [theory:sliding-rod]: 9 N; peer: Drake 38 N"
        checks.at_most(what, without["jam"][name][_COARSEST]["force"], 50, source)
        what = f"order between the smallest steps, {name}"
        checks.at_least(what, without["last_order"][name], 0.75, "fig. 12: 1; peer: Drake 0.8-1.1")
        for other in settings.pick("similar", "sap"):
            what = f"ratio of errors at 0.64 ms, lagged to {other}"
            source = "fig. 12: lagged is worst at the largest step"
            checks.at_least(what, errors[name][_COARSEST] / errors[other][_COARSEST], 1.0, source)
    if {"similar", "sap"} <= set(settings.contact_models):
        for step in CASES["without"].steps:
            e1, e2 = (without["rms_error"][name][step] for name in ("similar", "sap"))
            what = f"relative difference of errors at {1e3 * step:g} ms, sap to similar"
            checks.at_most(what, abs(e1 - e2) / e2, 0.02, "fig. 12: indistinguishable")
    return checks


def _check_dissipation(settings: Settings, figures: dict[str, Any]) -> Checks:
    """Checks figures 10 and 11: the order in which the models jam, and the stiffness of 'similar'."""
    jam = figures["with"]["jam_at_1_us"]
    before = figures["without"]["jam_at_1_us"]
    if not {"lagged", "similar", "sap"} <= jam.keys():
        return Checks()
    period = figures["with"]["period_at_1_us"]
    stiffness = (1 + FRICTION * DISSIPATIONS[1].d * SPEED) ** 0.5
    checks = Checks()
    what = "change of the time of lagged's jam by dissipation [s]"
    source = "section IX.C: very small"
    checks.at_most(what, abs(jam["lagged"]["time"] - before["lagged"]["time"]), 1e-4, source)
    what = "delay of the jam, lagged after similar [s]"
    checks.at_least(what, jam["lagged"]["time"] - jam["similar"]["time"], 2e-4, "figs. 10, 11")
    what = "delay of the jam, sap after lagged [s]"
    checks.at_least(what, jam["sap"]["time"] - jam["lagged"]["time"], 2e-4, "figs. 10, 11")
    what = "ratio of frequencies, similar to lagged"
    source = "sqrt(k_eff / k), k_eff = k (1 + mu d |v_t|)"
    checks.near(what, period["lagged"] / period["similar"], stiffness, 0.05, source)
    return checks


# Results of an independent program with the contact at the rod's end and a time step of 1 us,
# [theory:sliding-rod]: time of the largest force [s], and this force if known [N].
_PROTOTYPE: dict[str, dict[str, tuple[float, float | None]]] = {
    "without": {"lagged": (25.70e-3, 812), "similar": (25.76e-3, 785), "sap": (25.76e-3, 785)},
    "with": {"lagged": (25.68e-3, None), "similar": (25.22e-3, None), "sap": (26.44e-3, None)},
}


def _check_thin_rod(settings: Settings, jams: dict[str, Any]) -> Checks:
    checks = Checks()
    source = "[theory:sliding-rod], independent program"
    for case, of_models in _PROTOTYPE.items():
        for name in settings.pick(*of_models):
            time, force = of_models[name]
            jam = jams[case][name]
            where = f"thin rod {case} dissipation, {name}"
            checks.near(f"{where}: time of the jam [s]", jam["time"], time, 5e-3, source)
            if force:
                checks.near(f"{where}: force of the jam [N]", jam["force"], force, 0.02, source)
    return checks


def check_peer(
    settings: Settings, case: str, fine: dict[str, Trajectory], result: StudyResult
) -> None:
    """Adds a check of the distance to Drake's run of the same model and step, if its file exists."""
    if "lagged" not in fine:
        return
    file = {"without": "rod_nodiss", "with": "rod_diss"}[case] + "_lagged_ref_1e-6_every10"
    distance = calc_peer_distance(settings, result, file, ("x", "z", "theta"), fine["lagged"])
    if distance is not None:
        result.figures[case]["peer_lagged_at_1_us"] = distance
        what = f"distance to Drake's lagged, both at 1 us, {case} dissipation [m, rad]"
        result.checks.at_most(what, distance, 1e-8, "the same scheme with tolerances of 1e-10")
