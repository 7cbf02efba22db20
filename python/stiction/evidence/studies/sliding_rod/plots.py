"""Figures 7 to 12 of [castro2023]: the sliding rod."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.sliding_rod import CASES, LENGTH, measure_jam
from stiction.tables.plots import add_legend, find_color, find_line, make_plot


def draw_motion(reference: Trajectory) -> Figure:
    """Draws the rod every 10 ms and at the jam."""
    figure, (axes,) = make_plot()
    axes.axhline(0, color="k", lw=1)
    case = CASES["without"]
    jam = measure_jam(reference)["time"]
    for time in (*np.arange(0, case.duration + 1e-9, 0.01), jam):
        x, z, theta = reference.q[round(time / case.sampling)]
        dx, dz = LENGTH / 2 * math.cos(theta), LENGTH / 2 * math.sin(theta)
        is_jam = time == jam
        axes.plot(
            [x - dx, x + dx],
            [z - dz, z + dz],
            color=find_color("mujoco") if is_jam else find_color("lagged"),
            lw=4,
            alpha=0.9 if is_jam else 0.45,
            solid_capstyle="round",
            label=f"jam at {1e3 * jam:.1f} ms" if is_jam else None,
        )
    axes.plot(reference.x, reference.z, color="0.3", lw=1, label="center; rod every 10 ms")
    axes.set(aspect="equal", xlabel="x [m]", ylabel="z [m]")
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return figure


def draw_close_up(runs: Mapping[str, Trajectory], field: str) -> Figure:
    """Draws forces or velocities until after the jam, and close to it."""
    fields = {"normal_force": "normal force [N]"}
    if field == "slip_velocity":
        fields = {
            "slip_velocity": "slip velocity [m/s]",
            "normal_velocity": "normal velocity [m/s]",
        }
    times = [measure_jam(run)["time"] for run in runs.values()]
    figure, axes = make_plot(2, len(fields), height=3.2)
    for row, (name, label) in enumerate(fields.items()):
        left, right = axes[2 * row : 2 * row + 2]
        for panel in (left, right):
            for model, run in runs.items():
                panel.plot(1e3 * run.time, getattr(run, name), **_thin_line(model, runs))
            panel.set_ylabel(label)
        left.set_xlim(0, 1e3 * max(times) + 4)
        right.set_xlim(1e3 * min(times) - 1, 1e3 * max(times) + 0.8)
        if name == "normal_force":
            _set_force_limits(left, runs, min(times))
        else:
            for panel in (left, right):
                _fit_to_view(panel)
    for panel in axes[-2:]:
        panel.set_xlabel("time [ms]")
    add_legend(figure, axes[0])
    return figure


def _thin_line(model: str, runs: Mapping[str, Trajectory]) -> dict[str, Any]:
    line = find_line(model, list(runs))
    return {**line, "lw": 0.9 + 0.9 * (line["lw"] - 1.2)}


def _fit_to_view(axes: Axes) -> None:
    """Fits the limits to the values in the visible time, without time 0, which has no contact."""
    low, high = axes.get_xlim()
    shown = []
    for line in axes.lines:
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        shown.append(y[(x >= low) & (x <= high) & (x > 0)])
    values = np.concatenate(shown)
    margin = 0.05 * np.ptp(values)
    axes.set_ylim(values.min() - margin, values.max() + margin)


def _set_force_limits(axes: Axes, runs: Mapping[str, Trajectory], jam: float) -> None:
    """Sets limits at which the oscillation before the jam is visible."""
    before = max(run.normal_force[run.time < jam - 1e-3].max() for run in runs.values())
    axes.set_ylim(0, 1.2 * before)
