"""Plots of the gripper study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stiction.evidence.experiments.gripper import GripperRun
from stiction.evidence.studies.gripper.sides import Sides
from stiction.tables.plots import make_log_log, make_plot

_STAGES = {"surfaces_us": "C0", "solve_us": "C1", "step_us": "k"}


def draw_times(
    polygons: Mapping[str, Mapping[str, Any]], triangles: Mapping[str, Mapping[str, Any]]
) -> Figure:
    """Draws the times of a step over the number of faces, with a line of order 1."""
    figure, (axes,) = make_plot(1)
    for style, name, rows in (("o-", "polygons", polygons), ("^--", "triangles", triangles)):
        faces = [row["faces"] for row in rows.values()]
        for stage, color in _STAGES.items():
            label = f"{stage.removesuffix('_us')}, {name}"
            times = [row[stage] for row in rows.values()]
            axes.plot(faces, times, style, color=color, label=label, lw=1.2, ms=5)
    low, high = axes.get_xlim()
    ends = np.array([max(low, 100), high])
    axes.plot(ends, 0.3 * ends, ":", color="0.5", lw=1, label="order 1")
    make_log_log(axes)
    axes.set(xlabel="faces", ylabel="time per step [us]")
    axes.legend(frameon=False, fontsize=8, ncols=2)
    return figure


def draw_forces(runs: Mapping[str, GripperRun]) -> Figure:
    """Draws the normal force on a bubble and the upward force on the pancake over time."""
    figure, (grip, carried) = make_plot(2)
    for name, run in runs.items():
        grip.plot(run.time, run.force["left_bubble"][:, 1], label=f"{name} faces", lw=1.2)
        carried.plot(run.time, run.force["pancake"][:, 2], label=f"{name} faces", lw=1.2)
    grip.set_ylabel("force on the left bubble [N]")
    carried.set_ylabel("force on the pancake [N]")
    for axes in (grip, carried):
        axes.set_xlabel("time [s]")
        axes.legend(frameon=False, fontsize=9)
    return figure


def draw_sides(sides: Sides) -> Figure:
    """Draws figure 4, a fan and its polygon, and how many polygons have how many sides."""
    figure, (left, right) = make_plot(2)
    if sides.shown is not None:
        ring = np.vstack([sides.shown, sides.shown[:1]])
        for x in (0.0, 1.3 * np.ptp(ring[:, 0])):
            left.plot(ring[:, 0] + x, ring[:, 1], "k-", lw=1.5)
            left.fill(ring[:, 0] + x, ring[:, 1], color="C0", alpha=0.25)
            left.plot(x, 0, "o", color="C3", ms=4)
        for vertex in sides.shown:  # the fan about the centroid
            left.plot([0, vertex[0]], [0, vertex[1]], "k-", lw=0.8)
        left.set_title(f"{len(sides.shown)} triangles, 1 polygon")
    left.set_aspect("equal")
    left.set_axis_off()
    for resolution, counts in sides.counts.items():
        numbers = sorted(counts)
        shares = [counts[n] / counts.total() for n in numbers]
        mean = sum(n * counts[n] for n in numbers) / counts.total()
        label = f"{1e3 * resolution:g} mm, mean {mean:.2f}"
        right.plot(numbers, shares, "o-", lw=1.2, label=label)
    right.set_yscale("log")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.set(xlabel="sides of a polygon", ylabel="share of the polygons")
    right.legend(frameon=False, fontsize=9)
    return figure
