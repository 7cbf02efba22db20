"""Plots of the disk: figures 5 and 6 of [masterjohn2022]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.experiments.disk import calc_motion
from stiction.evidence.studies.disk.scene import SPEED, Disk, DiskRun
from stiction.tables.plots import add_legend, draw_convergence, make_log_log, make_plot


def draw_ratios(rows: Mapping[str, Mapping[float, DiskRun]], finals: Mapping[str, float]) -> Figure:
    """Draws figure 5: the ratio eps over time and over the remaining speed, with theory in gray."""
    figure, axes = make_plot(2, len(rows), height=3.2)
    for i, (title, runs) in enumerate(rows.items()):
        _draw_row(axes[2 * i], axes[2 * i + 1], runs, finals[title])
        axes[2 * i].set_title(title)
    add_legend(figure, axes[0])
    return figure


def _draw_row(left: Axes, right: Axes, runs: Mapping[float, DiskRun], final: float) -> None:
    for ratio, run in runs.items():
        fractions = np.geomspace(1, run.fraction[-1], 60)
        exact = calc_motion(ratio, SPEED, Disk().deceleration, fractions.tolist())
        exact_ratio = exact[:, 1] / exact[:, 2]
        for axes, x, exact_x in (
            (left, 1e3 * np.array(run.time), 1e3 * exact[:, 0]),
            (right, run.fraction, fractions),
        ):
            axes.plot(exact_x, exact_ratio, color="0.75", lw=4, label="theory")
            axes.plot(x, run.ratio, lw=1.2, label=f"{ratio:.2g}")
    for axes in (left, right):
        axes.axhline(final, color="k", lw=0.8, ls="--")
        axes.set(yscale="log", ylabel="v / (R ω)")
    right.text(
        0.99, final, f"{final:.4g}", transform=right.get_yaxis_transform(), ha="right", va="bottom"
    )
    left.set_xlabel("time [ms]")
    right.set(xlabel="fraction of the initial speed", xscale="log")
    right.invert_xaxis()


def draw_convergence_of_disk(
    in_time: Mapping[str, Mapping[float, float]], in_grid: Mapping[str, Mapping[float, float]]
) -> Figure:
    """Draws figure 6: errors of v over the time step, and of v and w over the grid size."""
    figure, (left, right) = make_plot(2)
    draw_convergence(left, in_time, "relative error of v")
    for name, of_sizes in in_grid.items():
        sizes = sorted(of_sizes)
        right.plot(
            [1e3 * size for size in sizes], [of_sizes[size] for size in sizes], "o-", label=name
        )
    ends = np.array([min(in_grid["v"]), max(in_grid["v"])])
    right.plot(
        1e3 * ends, 0.5 * min(in_grid["v"].values()) * (ends / ends[0]) ** 2, "k--", lw=1,
        label="order 2",
    )  # fmt: skip
    make_log_log(right)
    right.set(xlabel="grid size [mm]", ylabel="relative error")
    right.legend(frameon=False, fontsize=9)
    return figure


def draw_springs(figures: Mapping[str, Any]) -> Figure:
    """Draws the final ratio over the number of rings, with pressure fields and with springs."""
    figure, (axes,) = make_plot()
    for (name, of_rings), wanted, color in zip(
        figures["final"].items(),
        (figures["theory"], figures["theory_of_springs"]),
        ("C0", "C1"),
        strict=True,
    ):
        axes.plot(list(of_rings), list(of_rings.values()), "o-", color=color, label=name)
        axes.axhline(wanted, color=color, lw=0.8, ls="--")
    axes.set(xlabel="rings of a mesh that is finer at the rim", ylabel="v / (R ω) at the stop")
    axes.legend(frameon=False, fontsize=9)
    return figure
