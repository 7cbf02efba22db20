"""Plots of work-precision curves: error against CPU time on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.bench.work_precision import WorkCurves
from stiction.tables.plots import find_color, find_line, make_log_log, make_plot

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
    axes.set(title=curves.scene, xlabel=curves.work, ylabel=curves.error)


def _find_line(stepper: str, steppers: Sequence[str]) -> dict[str, Any]:
    """Returns the style of a line: wide for Stiction, thin for peers, which have its colors."""
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
