"""Plots of the multi-block grasp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.studies.grasp.run import GraspRun, ModelRun
from stiction.evidence.studies.grasp.scene import TIME_STEP
from stiction.tables.plots import find_color, make_plot

_FLOOR = 1e-18  # value drawn for zero on a log axis [m]


def draw_drop(
    without_slip: GraspRun, coulomb: Mapping[float, GraspRun], models: Mapping[str, ModelRun]
) -> Figure:
    """Draws the distance by which a block is below the grippers over time."""
    figure, (left, right) = make_plot(2)
    _draw(left, "no slip", without_slip.drop, find_color("no_slip"))
    for (friction, run), dash in zip(coulomb.items(), ("-", "--", ":"), strict=True):
        label = f"Stewart and Trinkle, μ = {friction:g}"
        _draw(left, label, run.drop, find_color("stewart_trinkle"), dash)
    left.set_title("36 contacts")
    for name, model in models.items():
        _draw(right, name, model.drop, find_color(name))
    right.set_title("scenes/grasp.xml")
    for axes in (left, right):
        axes.set(yscale="log", xlabel="time [ms]", ylabel="drop of a block [m]")
    left.legend(frameon=False, fontsize=8, loc="center right")
    if models:
        right.legend(
            frameon=False,
            fontsize=8,
            loc="lower right",
            bbox_to_anchor=(1, 0.27),
            ncols=2,
            labelspacing=0.2,
        )
    return figure


def _draw(axes: Axes, name: str, drop: Sequence[float], color: str, dash: str = "-") -> None:
    time = 1e3 * TIME_STEP * (1 + np.arange(len(drop)))
    axes.plot(time, np.maximum(np.abs(drop), _FLOOR), dash, label=name, color=color, lw=1.4)


def draw_times(times: Mapping[str, float], paper: Mapping[str, float]) -> Figure:
    """Draws the time of an LCP by solver, and the paper's times, scaled to that of pivoting."""
    figure, (axes,) = make_plot()
    names = [name for name in times if name != "call"]
    axes.barh(names, [times[name] for name in names], color="#2f7fd0")
    axes.axvline(times["call"], color="0.5", ls="--", lw=1, label="overhead of a call from Python")
    scale = times.get("no_slip, ppm", times["no_slip, ppm_ratio"]) / paper["ppm"]
    for solver, name in (
        ("lemke", "stewart_trinkle, lemke"),
        ("active_set", "no_slip, active_set"),
        ("ppm", "no_slip, ppm"),
    ):
        if name in names:
            axes.plot(scale * paper[solver], name, "k|", ms=16, mew=2)
    axes.plot([], [], "k|", ms=10, mew=2, label="paper's ratios")
    axes.set(xscale="log", xlabel="CPU time of an LCP [µs]")
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize=9)
    return figure
