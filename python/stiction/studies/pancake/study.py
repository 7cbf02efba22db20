"""A robot flips a pancake: section V.B and figures 7 to 9 of [masterjohn2022].

An arm takes a spatula from its stand with soft bubbles, gets it below a pancake, lifts it, turns it over
and holds the spatula still at the end: on four grids, under every contact model. Success is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stiction.errors import Error
from stiction.studies.checks import Check, check_at_least, check_at_most, check_between, check_near
from stiction.studies.pancake.plots import draw_faces, draw_scaling, draw_task, draw_times
from stiction.studies.pancake.replay import can_replay, make_replay
from stiction.studies.pancake.run import FRAME_TIME, PancakeRun, run_pancake
from stiction.studies.pancake.scene import GRIDS, SPATULA_MASS, STOVE_HEIGHT, make_pancake_model
from stiction.studies.pancake.task import GRIP_FORCE, LIFT
from stiction.studies.study import Settings, Study, StudyResult

ON_ALL_GRIDS = (
    "sap",
    "lagged_regularized",
)  # the paper's and our default; the others on the coarsest
NO_PATCHES = ("mujoco",)
TRIANGLES = 500  # the grid on which they are compared with polygons

_COARSEST = next(iter(GRIDS))
_GRAVITY = 9.81  # [m/s^2]
_HALF_THICKNESS = 0.008  # of the pancake [m]
_TIMES = ("surfaces_us", "solve_us", "step_us")


def run_study(settings: Settings) -> StudyResult:
    """All models on the coarsest grid, two on all grids, one with triangles; quick: the spatula is
    grabbed and lifted, on the coarsest grid.

    Raises:
        Error: no model to study has patches; dm_control is not installed.
    """
    if not _list_models(settings):
        raise Error(
            "unsupported",
            ", ".join(settings.contact_models),
            f"has no patches, which the pancake is gripped by: try {' or '.join(ON_ALL_GRIDS)}",
        )
    if settings.quick:
        return _run_quick(settings)
    result = StudyResult()
    runs = list(_run_all(settings))
    _describe(runs, result)
    polygons = [run for run in runs if run.tessellation == "polygon"]
    for run in polygons:
        result.checks += _check_grab(run) + _check_flip(run)
    scaled = {
        name: [run for run in polygons if run.contact_model == name and run.has_lifted]
        for name in settings.pick(*ON_ALL_GRIDS)
    }
    exponents = {name: _fit_exponents(of_grids) for name, of_grids in scaled.items()}
    result.figures["exponents"] = exponents
    for name, of_times in exponents.items():
        result.checks += _check_exponents(name, of_times)
    result.checks += _compare_tessellations(runs, result)
    shown = next(iter(scaled), None)  # without it all
    first = [run for run in polygons if shown in (run.contact_model, None)]
    triangles = [run for run in runs if run.tessellation == "triangle"]
    result.plots = {
        "fig07_task": draw_task(first),
        "fig09_faces": draw_faces([*first, *triangles]),
        "times": draw_times(first),
    }
    if any(scaled.values()):
        drawn = {name: of_grids for name, of_grids in scaled.items() if of_grids}
        result.plots["fig08_scaling"] = draw_scaling(drawn, exponents)
    _add_replay(first[0], result)
    return result


def _run_quick(settings: Settings) -> StudyResult:
    result = StudyResult()
    runs = []
    for name in _list_models(settings):
        settings.tell(f"{name}, the spatula is grabbed")
        runs.append(run_pancake(_COARSEST, name, only_grab=True))
        result.checks += _check_grab(runs[-1])
    _describe(runs, result)
    result.plots = {"fig07_task": draw_task(runs), "fig09_faces": draw_faces(runs)}
    result.notes.append("the pancake is not flipped with --quick")
    return result


def _describe(runs: Sequence[PancakeRun], result: StudyResult) -> None:
    result.figures["runs"] = [run.describe() for run in runs]
    for run in runs:
        if run.failure:
            result.notes.append(
                f"{run.contact_model}, {run.grid} faces, ended early: {run.failure}"
            )


def _list_models(settings: Settings) -> list[str]:
    names = [name for name in settings.contact_models if name not in NO_PATCHES]
    return sorted(names, key=lambda name: (name not in ON_ALL_GRIDS, name != ON_ALL_GRIDS[0]))


def _run_all(settings: Settings) -> Iterator[PancakeRun]:
    for name in _list_models(settings):
        for grid in GRIDS if name in ON_ALL_GRIDS else [_COARSEST]:
            settings.tell(f"{name}, {grid} faces")
            yield run_pancake(grid, name)
    for name in settings.pick(ON_ALL_GRIDS[0]):
        settings.tell(f"{name}, triangles")
        yield run_pancake(TRIANGLES, name, tessellation="triangle")


def _check_grab(run: PancakeRun) -> list[Check]:
    weight = SPATULA_MASS * _GRAVITY
    name = f"{run.contact_model}, {run.grid} faces"
    return [
        check_near(f"lift of the spatula [m], {name}", run.lift, LIFT, 0.03, "keyframes"),
        check_near(
            f"force on its handle [N], {name}", run.handle_force, weight, 5e-3, "its weight"
        ),
        check_near(f"grip [N], {name}", run.last("grip_force"), GRIP_FORCE, 0.02, "commanded"),
        check_at_most(f"slip of the handle [m], {name}", run.max("slip"), 0.01, "held"),
        check_at_most(f"its turn in the grip [deg], {name}", run.max("slip_deg"), 5.0, "held"),
    ]


def _check_flip(run: PancakeRun) -> list[Check]:
    name = f"{run.contact_model}, {run.grid} faces"
    height = run.last("pancake_height") - STOVE_HEIGHT if run.on_stove else None
    return [
        check_at_least(
            f"pancake raised [m], {name}", run.pancake_height_raised - STOVE_HEIGHT, 0.05, "scooped"
        ),
        check_at_least(f"pancake turned [deg], {name}", run.last("turn_deg"), 150, "flipped"),
        check_near(
            f"its height on the stove [m], {name}", height, _HALF_THICKNESS, 0.05, "at rest"
        ),
        check_at_most(f"its speed [m/s], {name}", run.pancake_speed, 1e-3, "at rest"),
    ]


def _fit_exponents(runs: Sequence[PancakeRun]) -> dict[str, float]:
    """Of times in faces, by least squares of the logarithms; NaN of fewer than two runs."""
    if len(runs) < 2:
        return dict.fromkeys(_TIMES, float("nan"))
    faces = np.log([run.mean("faces") for run in runs])
    return {
        name: float(np.polyfit(faces, np.log([run.quiet(name) for run in runs]), 1)[0])
        for name in _TIMES
    }


def _check_exponents(name: str, exponents: dict[str, float]) -> list[Check]:
    return [
        check_at_most(
            f"exponent of the query, {name}", exponents["surfaces_us"], 1.05, "fig. 8: linear"
        ),
        check_at_most(f"exponent of the step, {name}", exponents["step_us"], 1.05, "target"),
    ]


def _compare_tessellations(runs: Sequence[PancakeRun], result: StudyResult) -> list[Check]:
    of_grid = {run.tessellation: run for run in runs if _is_compared(run)}
    if len(of_grid) < 2:
        return []
    ratios: dict[str, Any] = {"faces": _divide(of_grid, lambda run: run.mean("faces"))}
    ratios |= {name: _divide(of_grid, lambda run, name=name: run.quiet(name)) for name in _TIMES}
    result.figures["triangles_to_polygons"] = ratios
    turned = of_grid["triangle"].last("turn_deg")
    return [
        check_between("faces, triangles to polygons", ratios["faces"], 3.5, 4.6, "paper: 4.05"),
        check_at_least("pancake turned [deg], triangles", turned, 150, "flipped"),
    ]


def _is_compared(run: PancakeRun) -> bool:
    return run.contact_model == ON_ALL_GRIDS[0] and run.grid == TRIANGLES


def _divide(runs: dict[str, PancakeRun], of: Any) -> float:
    return float(of(runs["triangle"]) / of(runs["polygon"]))


def _add_replay(run: PancakeRun, result: StudyResult) -> None:
    if not run.frames:
        result.notes.append("no replay: no step was made")
    elif can_replay():
        result.pages["replay"] = make_replay(make_pancake_model(), run.frames, FRAME_TIME)
    else:
        result.notes.append("no replay: pip install stiction[replay]")


STUDY = Study(
    name="pancake",
    title="A robot flips a pancake",
    run=run_study,
    plots=("fig07_task", "fig09_faces"),
)
