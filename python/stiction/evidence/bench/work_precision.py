"""Work-precision curves: the error of a stepper against its CPU time, as one setting varies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.engines import drake_plant
from stiction.tables.plots import find_color, find_line, make_log_log, make_plot

# Called with a description of the next run.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class WorkPoint:
    """The result of one stepper at one setting.

    stepper: name of the stepper.
    knob: name of the setting that varies, such as 'time_step'.
    setting: its value.
    error: error, or None if the stepper failed.
    cpu_ms, cpu_ms_median: minimum and median of the repeats, in the unit of the curves; None if the
        stepper failed.
    failed_steps: number of steps that did not converge or failed their certificate.
    """

    stepper: str
    knob: str
    setting: float
    error: float | None
    cpu_ms: float | None
    cpu_ms_median: float | None
    failed_steps: int = 0


@dataclass(frozen=True)
class WorkCurves:
    """The results of all steppers on one scene.

    scene: name of the scene.
    error, work: descriptions with units, for the axes.
    floor: possible error of the reference itself; None if it is negligible.
    points: the results.
    notes: the steppers left out, and the reasons.
    """

    scene: str
    error: str
    work: str
    floor: float | None
    points: list[WorkPoint]
    notes: list[str] = field(default_factory=list)

    def steppers(self) -> list[str]:
        """Returns the names of the steppers."""
        return list(dict.fromkeys(point.stepper for point in self.points))

    def of_stepper(self, stepper: str) -> list[WorkPoint]:
        """Returns the results of one stepper."""
        return [point for point in self.points if point.stepper == stepper]


@dataclass(frozen=True)
class Work:
    """A stepper at one setting, which is timed.

    stepper, knob, setting: as in WorkPoint.
    runner: its runs; None if it failed.
    find_error: returns its error after the runs; NaN or None if it failed.
    failed_steps: as in WorkPoint.
    ms: time in the unit of the curves, of a CPU time of 1 us per step.
    """

    stepper: str
    knob: str
    setting: float
    runner: Runner | None
    find_error: Callable[[], float | None]
    failed_steps: int = 0
    ms: float = 1e-3


def measure(works: Sequence[Work], num_repeats: int) -> list[WorkPoint]:
    """Times steppers, which take turns, and returns their points."""
    runners = {str(i): work.runner for i, work in enumerate(works) if work.runner is not None}
    times = time_in_turns(runners, num_repeats)
    points = []
    for i, work in enumerate(works):
        key = (work.stepper, work.knob, work.setting)
        time, error = times.get(str(i)), work.find_error()
        if time is None or error is None or not math.isfinite(error):
            points.append(WorkPoint(*key, None, None, None, work.failed_steps or 1))
            continue
        least, median = (work.ms * us for us in (time.minimum, time.median))
        points.append(WorkPoint(*key, error, least, median, work.failed_steps))
    return points


def sort_points(points: Iterable[WorkPoint], steppers: Iterable[str]) -> list[WorkPoint]:
    """Returns points by stepper; the order of the settings stays."""
    order = list(steppers)
    return sorted(points, key=lambda point: order.index(point.stepper))


def choose_drake(with_drake: bool | None, what: str, notes: list[str]) -> bool:
    """Returns whether Drake runs; None means if it is installed. A note says that it does not."""
    if with_drake is not None:
        return with_drake
    is_installed = drake_plant.is_installed()
    if not is_installed:
        notes.append(f"Drake's {what} not run: Drake is not installed (pip install drake)")
    return is_installed


# ---- Plots of work-precision curves: error against CPU time on logarithmic axes ------------------

_MUJOCO_LINES = ("-", "--", ":")
_FLOOR = "change of the reference"
_RANKS = {"elliptic": 0, "newton": 0, "pyramidal": 1, "cg": 1}


def draw_work(curves: Sequence[WorkCurves]) -> Figure:
    """Draws one panel per scene, with one legend for all steppers."""
    columns = min(2, len(curves))
    figure, axes = make_plot(columns, math.ceil(len(curves) / columns), height=4.0)
    for panel, of_scene in zip(axes, curves, strict=False):
        _draw_scene(panel, of_scene)
    for panel in axes[len(curves) :]:
        panel.set_axis_off()
    handles: dict[str, Any] = {}
    for panel in axes:
        handles.update(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    if _FLOOR in handles:  # move it to the end of the legend
        handles[_FLOOR] = handles.pop(_FLOOR)
    figure.legend(
        handles.values(), handles, loc="outside upper center", ncols=5, frameon=False, fontsize=9
    )
    return figure


def _draw_scene(axes: Axes, curves: WorkCurves) -> None:
    for name in curves.steppers():
        drawn = [(p.cpu_ms, p.error) for p in curves.of_stepper(name) if p.cpu_ms and p.error]
        axes.plot(
            [work for work, _ in drawn],
            [error for _, error in drawn],
            **_find_line(name, curves.steppers()),
        )
    if curves.floor:
        axes.axhline(curves.floor, color="k", lw=0.8, ls=":", label=_FLOOR)
    make_log_log(axes)
    axes.set_title(curves.scene)
    axes.set_xlabel(curves.work)
    axes.set_ylabel(curves.error)


def _find_line(stepper: str, steppers: Sequence[str]) -> dict[str, Any]:
    """Returns the style of a line: wide for Stiction, thin for peers.

    Drake's models have the colors of the corresponding contact models.
    """
    program, _, variant = stepper.partition(" ")
    if program == "drake":
        color = find_color(variant)
        look = {"color": color, "lw": 1, "ls": "--", "marker": "s", "ms": 4, "mfc": "none"}
        return {**look, "label": stepper}
    if program == "mujoco":
        line = _MUJOCO_LINES[_RANKS.get(variant, 2)]
        look = {"color": find_color("mujoco"), "lw": 1, "ls": line, "marker": "^", "ms": 4}
        return {**look, "label": stepper}
    ours = [name for name in steppers if " " not in name]
    return {**find_line(stepper, ours), "marker": "o", "ms": 4}
