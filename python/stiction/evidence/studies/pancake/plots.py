"""Plots of the pancake study: figures 7 to 9 of [masterjohn2022]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from stiction.evidence.studies.pancake.run import PancakeRun
from stiction.evidence.studies.pancake.task import GRIP_FORCE
from stiction.tables.plots import make_log_log, make_plot

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
