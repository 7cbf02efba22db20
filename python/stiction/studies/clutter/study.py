"""Forty bodies dropped into a box: figures 13 to 18 of [castro2023], section X.A.

The scene is that of `stiction bench clutter`. Contacts exist before bodies touch, within the
distance that a falling body travels in a step. The models that act at a distance need these
contacts, and the lagged models need their normal force to bound friction. Every model uses the
given stiffness ('sap' with near_rigid_factor 0). The paper's 'lagged' and 'similar' have the slip
tolerance v_s; Stiction's 'similar' has that of the regularized lagged model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.experiments.clutter import STIFFNESS, TIME_STEP
from stiction.experiments.convergence import calc_order
from stiction.studies.checks import check_at_most
from stiction.studies.clutter.checks import (
    STEADY,
    STILL_TOLERANCE,
    by_setting,
    check_coupling,
    check_drifts,
    check_history,
    check_main,
    check_steps,
    check_stiffness,
)
from stiction.studies.clutter.plots import (
    draw_against_step,
    draw_against_stiffness,
    draw_penetration,
    draw_scene,
    draw_solver,
    draw_stiction_speed,
)
from stiction.studies.clutter.run import ClutterRun, run_clutter_case
from stiction.studies.study import Settings, Study, StudyResult

Vector = NDArray[np.float64]

STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)  # figure 16 [s]
STIFFNESSES = (1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13)  # figures 17, 18 [N/m]
_QUICK_STEPS = (1e-2, 5e-3, 2e-3)
_QUICK_STIFFNESSES = (1e5, 1e7, 1e13)
# Half of the bodies are spheres, and some still roll in the last second. The median drift of a
# single scene therefore depends on chance, so several scenes are run.
_STILL_SCENES = range(16)


def run_study(settings: Settings) -> StudyResult:
    """Runs all models at 2 ms and 1e7 N/m, then with other time steps, then with other stiffnesses."""
    result = StudyResult()
    swept = settings.pick(*STEADY) if settings.quick else list(settings.contact_models)
    steps = _QUICK_STEPS if settings.quick else STEPS
    stiffnesses = _QUICK_STIFFNESSES if settings.quick else STIFFNESSES
    main: dict[str, ClutterRun] = {}
    for name in settings.contact_models:
        settings.tell(f"{name} at 2 ms and 1e7 N/m")
        main[name] = run_clutter_case(name, num_conditions=60 if settings.quick else 300)
    over_steps: dict[str, dict[float, ClutterRun]] = {}
    over_stiffness: dict[str, dict[float, ClutterRun]] = {}
    for name in swept:
        over_steps[name] = {TIME_STEP: main[name]}
        for step in steps:
            if step == TIME_STEP:
                continue
            settings.tell(f"{name} at {1e3 * step:g} ms")
            over_steps[name][step] = run_clutter_case(name, time_step=step, num_conditions=60)
        over_stiffness[name] = {STIFFNESS: main[name]}
        for stiffness in stiffnesses:
            if stiffness == STIFFNESS:
                continue
            settings.tell(f"{name} at {stiffness:g} N/m")
            over_stiffness[name][stiffness] = run_clutter_case(
                name, stiffness=stiffness, num_conditions=60
            )
    drifts = {name: _measure_drifts(settings, name) for name in settings.pick(*STEADY)}
    settings.tell("lagged_regularized at a tolerance of 1e-8")
    tight = run_clutter_case("lagged_regularized", tolerance=1e-8)
    result.figures = {
        "models": {name: run.describe() for name, run in main.items()},
        "over_time_step": _describe(over_steps),
        "over_stiffness": _describe(over_stiffness),
        "penetration_order": {
            name: _calc_penetration_order(runs) for name, runs in over_stiffness.items()
        },
        "drift_at_a_tenth_of_v_s": drifts,
        "tight_tolerance": tight.describe(),
    }
    result.checks = [
        *check_main(settings, main),
        *check_coupling(main, *by_setting(over_steps), *by_setting(over_stiffness)),
        *check_drifts(drifts),
        *check_history(settings, main),
        *check_steps(over_steps),
        *check_stiffness(over_stiffness, result.figures["penetration_order"]),
        check_at_most(
            "relative residual at 1e7 N/m and a tolerance of 1e-8",
            tight.worst_residual,
            1.25e-8,
            "target",
        ),
    ]
    shown = "lagged_regularized" if "lagged_regularized" in main else next(iter(main))
    result.plots = {
        "fig13_start_and_end": draw_scene(main[shown]),
        "fig14_iterations_and_condition": draw_solver(main),
        "fig15_stiction_speed": draw_stiction_speed(main),
        "fig16_over_time_step": draw_against_step(over_steps),
        "fig17_penetration": draw_penetration(over_stiffness),
        "fig18_over_stiffness": draw_against_stiffness(over_stiffness),
    }
    return result


def _measure_drifts(settings: Settings, name: str) -> list[float]:
    """Returns the median drift of the bodies in each scene [m]."""
    settings.tell(f"{name} with a tenth of the stiction tolerance, {len(_STILL_SCENES)} scenes")
    return [
        run_clutter_case(name, stiction_tolerance=STILL_TOLERANCE, seed=seed).median_drift
        for seed in _STILL_SCENES
    ]


def _describe(runs: dict[str, dict[float, ClutterRun]]) -> dict[str, dict[float, Any]]:
    return {
        name: {key: of_key[key].describe() for key in sorted(of_key)}
        for name, of_key in runs.items()
    }


def _calc_penetration_order(runs: dict[float, ClutterRun]) -> float:
    """Returns the order of the median penetration over the stiffness."""
    return calc_order({stiffness: run.median_penetration for stiffness, run in runs.items()})


STUDY = Study(
    name="clutter",
    title="forty bodies dropped into a box",
    run=run_study,
    plots=(
        "fig13_start_and_end",
        "fig14_iterations_and_condition",
        "fig15_stiction_speed",
        "fig16_over_time_step",
        "fig17_penetration",
        "fig18_over_stiffness",
    ),
)
