"""A robot flips a pancake with a spatula: section V.B and figures 7 to 9 of [masterjohn2022]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from stiction._core import contact_model_traits
from stiction.errors import Error
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.pages import add_page
from stiction.evidence.studies.pancake.run import PancakeRun, run_pancake
from stiction.evidence.studies.pancake.scene import GRIDS, SPATULA_MASS, STOVE_HEIGHT
from stiction.evidence.studies.pancake.task import GRIP_FORCE, LIFT
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.tables.plots import make_log_log, make_plot
from stiction.view.stills import draw_stills

# ---- The plots -----------------------------------------------------------------------------------

_WINDOW = 41  # number of steps of a running median
_PARTS = {"surfaces_us": "query", "solve_us": "solver", "step_us": "step"}


def draw_task(runs: Sequence[PancakeRun]) -> Figure:
    """Draws the pancake's rotation, the heights and the grip force over time, figure 7."""
    figure, axes = make_plot(1, 3, height=2.2)
    for color, run in zip(_pick_colors(len(runs)), runs, strict=True):
        time, label = run.samples["time"], f"{run.contact_model}, {run.grid}"
        axes[0].plot(time, run.samples["turn_deg"], color=color, lw=1.2, label=label)
        axes[1].plot(time, 1e3 * run.samples["pancake_height"], color=color, lw=1.2)
        axes[1].plot(time, 1e3 * run.samples["spatula_height"], color=color, lw=1.2, ls="--")
        axes[2].plot(time, run.samples["grip_force"], color=color, lw=1.2)
    axes[0].set_ylabel("rotation of the\npancake [deg]")
    axes[1].set_ylabel("height [mm]\n(spatula dashed)")
    axes[2].set_ylabel("grip force [N]")
    axes[2].axhline(GRIP_FORCE, color="k", lw=0.8, ls=":")
    axes[2].set_xlabel("time [s]")
    for each in axes:
        _mark_phases(each, runs[0], with_names=each is axes[0])
    axes[0].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def draw_faces(runs: Sequence[PancakeRun]) -> Figure:
    """Draws the number of faces over time, figure 9."""
    figure, axes = make_plot()
    for color, run in zip(_pick_colors(len(runs)), runs, strict=True):
        line = "-" if run.tessellation == "polygon" else "--"
        label = f"{run.grid}, {run.tessellation}s"
        axes[0].plot(
            run.samples["time"], run.samples["faces"], line, color=color, lw=1.2, label=label
        )
    axes[0].set(ylabel="faces per step", xlabel="time [s]", yscale="log")
    _mark_phases(axes[0], runs[0], with_names=True)
    axes[0].legend(frameon=False, fontsize=8, loc="lower right", ncols=2)
    return figure


def draw_times(runs: Sequence[PancakeRun]) -> Figure:
    """Draws running medians of the wall times of query, solver and step over simulated time."""
    figure, axes = make_plot(1, 3, height=2.2)
    for each, (name, title) in zip(axes, _PARTS.items(), strict=True):
        for color, run in zip(_pick_colors(len(runs)), runs, strict=True):
            time, values = run.samples["time"], _smooth(run.samples[name])
            each.plot(time, values, color=color, lw=1.1, label=str(run.grid))
        each.set(yscale="log", ylabel=f"{title} [µs]")
        _mark_phases(each, runs[0], with_names=each is axes[0])
    axes[2].set_xlabel("time [s]")
    axes[0].legend(frameon=False, fontsize=8, ncols=4, loc="lower right")
    return figure


def draw_scaling(
    runs: Mapping[str, Sequence[PancakeRun]], exponents: Mapping[str, Mapping[str, float]]
) -> Figure:
    """Draws the wall times over the number of faces by contact model, figure 8."""
    figure, axes = make_plot(len(runs), 1)
    for each, (contact_model, of_grids) in zip(axes, runs.items(), strict=True):
        for marker, (name, title) in zip("os^", _PARTS.items(), strict=True):
            faces = [run.mean("faces") for run in of_grids]
            label = f"{title}: faces^{exponents[contact_model][name]:.2f}"
            each.plot(faces, [run.quiet(name) for run in of_grids], f"{marker}-", label=label)
        make_log_log(each)
        each.set_xticks(faces, [f"{value:.0f}" for value in faces])
        each.xaxis.set_minor_locator(NullLocator())
        each.set_xlabel("mean number of faces per step")
        each.set_ylabel("time per step [µs]")
        each.set_title(contact_model)
        each.legend(frameon=False, fontsize=9)
    return figure


def _mark_phases(axes: Axes, run: PancakeRun, *, with_names: bool) -> None:
    """Marks the starts of the phases of a run."""
    for name, start in run.phases:
        axes.axvline(start, color="0.8", lw=0.8, zorder=0)
        if with_names:
            axes.annotate(
                name, (start, 1.01), xycoords=("data", "axes fraction"), rotation=40, fontsize=7
            )


def _smooth(values: Any) -> Any:
    """Returns the running median; the first and last values are repeated beyond the ends."""
    padded = np.pad(values, _WINDOW // 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, _WINDOW), axis=1)


def _pick_colors(number: int) -> list[Any]:
    return [matplotlib.colormaps["viridis"](x) for x in np.linspace(0, 0.9, max(number, 2))][
        :number
    ]


# ---- The study -----------------------------------------------------------------------------------

# The paper's model and Stiction's default run on all grids, other models on the coarsest.
ON_ALL_GRIDS = ("sap", "lagged_regularized")
TRIANGLES = 500  # the grid on which triangles are compared with polygons

_COARSEST = next(iter(GRIDS))
_GRAVITY = 9.81  # [m/s^2]
_DRAWN = ("lift", "scoop", "set down")  # phases at whose start the patches are drawn
_HALF_THICKNESS = 0.008  # half the thickness of the pancake [m]
_TIMES = ("surfaces_us", "solve_us", "step_us")


def run_study(settings: Settings) -> StudyResult:
    """Runs all models on the coarsest grid, two on all grids; a quick run only grabs the spatula."""
    if not _list_models(settings):
        raise Error(
            "unsupported",
            ", ".join(settings.contact_models),
            f"has no patches, but this study needs them; use {' or '.join(ON_ALL_GRIDS)}",
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
    # Draw the first model of ON_ALL_GRIDS that was run, or else all models.
    shown = next(iter(scaled), None)
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
    _show(first[0], result)
    return result


def _run_quick(settings: Settings) -> StudyResult:
    result = StudyResult()
    runs = []
    for name in _list_models(settings):
        settings.tell(f"{name}, grabbing the spatula")
        runs.append(run_pancake(_COARSEST, name, only_grab=True))
        result.checks += _check_grab(runs[-1])
    _describe(runs, result)
    result.plots = {"fig07_task": draw_task(runs), "fig09_faces": draw_faces(runs)}
    _show(runs[0], result)
    result.notes.append("--quick does not flip the pancake")
    return result


def _describe(runs: Sequence[PancakeRun], result: StudyResult) -> None:
    result.figures["runs"] = [run.describe() for run in runs]
    for run in runs:
        if run.failure:
            result.notes.append(
                f"{run.contact_model}, {run.grid} faces, ended early: {run.failure}"
            )


def _list_models(settings: Settings) -> list[str]:
    names = [name for name in settings.contact_models if contact_model_traits(name).takes_patches]
    return sorted(names, key=lambda name: (name not in ON_ALL_GRIDS, name != ON_ALL_GRIDS[0]))


def _run_all(settings: Settings) -> Iterator[PancakeRun]:
    for name in _list_models(settings):
        for grid in GRIDS if name in ON_ALL_GRIDS else [_COARSEST]:
            settings.tell(f"{name}, {grid} faces")
            yield run_pancake(grid, name)
    for name in settings.pick(ON_ALL_GRIDS[0]):
        settings.tell(f"{name}, triangles")
        yield run_pancake(TRIANGLES, name, tessellation="triangle")


def _check_grab(run: PancakeRun) -> Checks:
    weight = SPATULA_MASS * _GRAVITY
    name = f"{run.contact_model}, {run.grid} faces"
    checks = Checks()
    checks.near(f"lift of the spatula, {name} [m]", run.lift, LIFT, 0.03, "keyframes")
    what = f"upward force on the handle, {name} [N]"
    checks.near(what, run.handle_force, weight, 5e-3, "weight of the spatula")
    checks.near(f"grip force, {name} [N]", run.last("grip_force"), GRIP_FORCE, 0.02, "command")
    checks.at_most(f"slip of the handle, {name} [m]", run.max("slip"), 0.01, "the gripper holds it")
    what = f"rotation of the handle in the grip, {name} [deg]"
    checks.at_most(what, run.max("slip_deg"), 5.0, "the gripper holds it")
    return checks


def _check_flip(run: PancakeRun) -> Checks:
    name = f"{run.contact_model}, {run.grid} faces"
    height = run.last("pancake_height") - STOVE_HEIGHT if run.on_stove else None
    checks = Checks()
    what = f"height of the raised pancake above the stove, {name} [m]"
    checks.at_least(what, run.pancake_height_raised - STOVE_HEIGHT, 0.05, "the spatula lifts it")
    source = "it is flipped"
    checks.at_least(f"rotation of the pancake, {name} [deg]", run.last("turn_deg"), 150, source)
    what = f"final height of the pancake above the stove, {name} [m]"
    checks.near(what, height, _HALF_THICKNESS, 0.05, "it is at rest")
    source = "it is at rest"
    checks.at_most(f"final speed of the pancake, {name} [m/s]", run.pancake_speed, 1e-3, source)
    return checks


def _fit_exponents(runs: Sequence[PancakeRun]) -> dict[str, float]:
    """Fits the exponents of times over the number of faces; NaN for fewer than two runs."""
    if len(runs) < 2:
        return dict.fromkeys(_TIMES, float("nan"))
    faces = np.log([run.mean("faces") for run in runs])
    return {
        name: float(np.polyfit(faces, np.log([run.quiet(name) for run in runs]), 1)[0])
        for name in _TIMES
    }


def _check_exponents(name: str, exponents: dict[str, float]) -> Checks:
    checks = Checks()
    what = f"exponent of the query's time over faces, {name}"
    checks.at_most(what, exponents["surfaces_us"], 1.05, "fig. 8: linear")
    value = exponents["step_us"]
    checks.at_most(f"exponent of the step's time over faces, {name}", value, 1.05, "target")
    return checks


def _compare_tessellations(runs: Sequence[PancakeRun], result: StudyResult) -> Checks:
    of_grid = {run.tessellation: run for run in runs if _is_compared(run)}
    if len(of_grid) < 2:
        return Checks()
    ratios: dict[str, Any] = {"faces": _divide(of_grid, lambda run: run.mean("faces"))}
    ratios |= {name: _divide(of_grid, lambda run, name=name: run.quiet(name)) for name in _TIMES}
    result.figures["triangles_to_polygons"] = ratios
    turned = of_grid["triangle"].last("turn_deg")
    checks = Checks()
    what = "ratio of the numbers of faces, triangles to polygons"
    checks.between(what, ratios["faces"], 3.5, 4.6, "paper: 4.05")
    checks.at_least("rotation of the pancake, triangles [deg]", turned, 150, "it is flipped")
    return checks


def _is_compared(run: PancakeRun) -> bool:
    return run.contact_model == ON_ALL_GRIDS[0] and run.grid == TRIANGLES


def _divide(runs: dict[str, PancakeRun], measure: Any) -> float:
    return float(measure(runs["triangle"]) / measure(runs["polygon"]))


def _show(run: PancakeRun, result: StudyResult) -> None:
    """Adds the page and the pictures of a run."""
    add_page("replay", "A robot flips a pancake", [run.film], result)
    phases = {name: start for name, start in run.phases if name in _DRAWN}
    if phases:
        frames = [(name, run.film.find_frame(start)) for name, start in phases.items()]
        result.plots["fig07_patches"] = draw_stills(run.film, frames)


STUDY = Study(
    name="pancake",
    title="a robot that flips a pancake",
    run=run_study,
    plots=("fig07_task", "fig07_patches", "fig09_faces"),
)
