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
from stiction.evidence.studies.checks import (
    Check,
    check_at_least,
    check_at_most,
    check_near,
    check_reference,
    check_runs,
)
from stiction.evidence.studies.peers import calc_peer_distance
from stiction.evidence.studies.study import Settings, StudyResult

_COARSEST = CASES["without"].steps[0]  # largest time step [s]


def make_checks(
    settings: Settings,
    figures: dict[str, Any],
    runs: dict[str, Runs],
    fine: dict[str, dict[str, Trajectory]],
) -> list[Check]:
    """Checks both cases and the thin rod."""
    everything = [run for of_case in runs.values() for run in list_runs(of_case)]
    everything += [run for of_case in fine.values() for run in of_case.values()]
    checks = [
        check_reference(figures[name]["reference_change"], figures[name]["rms_error"])
        for name in CASES
    ]
    checks += check_runs(everything)
    reference = figures["without"]["reference_jam"]
    checks += [
        check_near("force of the jam, reference [N]", reference["force"], 812, 0.01, "peer: Drake"),
        check_near(
            "time of the jam, reference [s]", reference["time"], 17.4e-3, 0.01, "peer: Drake"
        ),
        check_near(
            "duration of stiction in the jam, reference [s]",
            reference["stiction"],
            0.2e-3,
            0.15,
            "section IX.C: 0.2 ms",
        ),
        check_at_least(
            "margin of Painleve's condition at the jam [-]",
            calc_painleve_margin(math.radians(reference["angle_deg"])),
            0.0,
            "3 mu sin cos >= 1 + 3 cos^2, [theory:painleve]",
        ),
    ]
    checks += _check_steps_of_models(settings, figures)
    checks += _check_dissipation(settings, figures)
    return checks + _check_thin_rod(settings, figures["thin_rod"])


def _check_steps_of_models(settings: Settings, figures: dict[str, Any]) -> list[Check]:
    checks = []
    without = figures["without"]
    # The targets of 'coulomb' are Stiction's own; those of 'tamsi' are results of Drake's tamsi.
    for name in settings.pick("coulomb", "tamsi"):
        checks += [
            check_at_most(
                f"RMS error at 0.64 ms, {name} [m, rad]",
                without["rms_error"][name][_COARSEST],
                0.055,
                "target; peer: Drake's tamsi, 0.054",
            ),
            check_at_least(
                f"force of the jam at 0.64 ms, {name} [N]",
                without["jam"][name][_COARSEST]["force"],
                300,
                "target; peer: Drake's tamsi, 674 N",
            ),
        ]
    for name in settings.pick("lagged"):
        errors = without["rms_error"]
        checks += [
            check_at_most(
                f"force of the jam at 0.64 ms, which {name} misses [N]",
                without["jam"][name][_COARSEST]["force"],
                50,
                "fig. 12, [theory:sliding-rod]: 9 N; peer: Drake 38 N",
            ),
            check_at_least(
                f"order between the smallest steps, {name}",
                without["last_order"][name],
                0.75,
                "fig. 12: 1; peer: Drake 0.8-1.1",
            ),
        ]
        for other in settings.pick("similar", "sap"):
            checks.append(
                check_at_least(
                    f"ratio of errors at 0.64 ms, lagged to {other}",
                    errors[name][_COARSEST] / errors[other][_COARSEST],
                    1.0,
                    "fig. 12: lagged is worst at the largest step",
                )
            )
    if {"similar", "sap"} <= set(settings.contact_models):
        for step in CASES["without"].steps:
            e1, e2 = (without["rms_error"][name][step] for name in ("similar", "sap"))
            checks.append(
                check_at_most(
                    f"relative difference of errors at {1e3 * step:g} ms, sap to similar",
                    abs(e1 - e2) / e2,
                    0.02,
                    "fig. 12: indistinguishable",
                )
            )
    return checks


def _check_dissipation(settings: Settings, figures: dict[str, Any]) -> list[Check]:
    """Checks figures 10 and 11: the order in which the models jam, and the stiffness of 'similar'."""
    jam = figures["with"]["jam_at_1_us"]
    before = figures["without"]["jam_at_1_us"]
    if not {"lagged", "similar", "sap"} <= jam.keys():
        return []
    period = figures["with"]["period_at_1_us"]
    stiffness = (1 + FRICTION * DISSIPATIONS[1].d * SPEED) ** 0.5
    return [
        check_at_most(
            "change of the time of lagged's jam by dissipation [s]",
            abs(jam["lagged"]["time"] - before["lagged"]["time"]),
            1e-4,
            "section IX.C: very small",
        ),
        check_at_least(
            "delay of the jam, lagged after similar [s]",
            jam["lagged"]["time"] - jam["similar"]["time"],
            2e-4,
            "figs. 10, 11",
        ),
        check_at_least(
            "delay of the jam, sap after lagged [s]",
            jam["sap"]["time"] - jam["lagged"]["time"],
            2e-4,
            "figs. 10, 11",
        ),
        check_near(
            "ratio of frequencies, similar to lagged",
            period["lagged"] / period["similar"],
            stiffness,
            0.05,
            "sqrt(k_eff / k), k_eff = k (1 + mu d |v_t|)",
        ),
    ]


# Results of an independent program with the contact at the rod's end and a time step of 1 us,
# [theory:sliding-rod]: time of the largest force [s], and this force if known [N].
_PROTOTYPE: dict[str, dict[str, tuple[float, float | None]]] = {
    "without": {"lagged": (25.70e-3, 812), "similar": (25.76e-3, 785), "sap": (25.76e-3, 785)},
    "with": {"lagged": (25.68e-3, None), "similar": (25.22e-3, None), "sap": (26.44e-3, None)},
}


def _check_thin_rod(settings: Settings, jams: dict[str, Any]) -> list[Check]:
    checks = []
    source = "[theory:sliding-rod], independent program"
    for case, of_models in _PROTOTYPE.items():
        for name in settings.pick(*of_models):
            time, force = of_models[name]
            jam = jams[case][name]
            where = f"thin rod {case} dissipation, {name}"
            checks.append(
                check_near(f"{where}: time of the jam [s]", jam["time"], time, 5e-3, source)
            )
            if force:
                checks.append(
                    check_near(f"{where}: force of the jam [N]", jam["force"], force, 0.02, source)
                )
    return checks


def check_peer(
    settings: Settings, case: str, fine: dict[str, Trajectory], result: StudyResult
) -> list[Check]:
    """Checks the distance to Drake's run with the same model and time step, if its file exists."""
    if "lagged" not in fine:
        return []
    file = {"without": "rod_nodiss", "with": "rod_diss"}[case] + "_lagged_ref_1e-6_every10"
    distance = calc_peer_distance(settings, result, file, ("x", "z", "theta"), fine["lagged"])
    if distance is None:
        return []
    result.figures[case]["peer_lagged_at_1_us"] = distance
    return [
        check_at_most(
            f"distance to Drake's lagged, both at 1 us, {case} dissipation [m, rad]",
            distance,
            1e-8,
            "the same scheme with tolerances of 1e-10",
        )
    ]
