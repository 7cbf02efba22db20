"""Plots of the clutter: figures 13 to 18 of [castro2023]."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Polygon
from numpy.typing import NDArray

from stiction.experiments.clutter import RADIUS, make_clutter
from stiction.experiments.plots import add_legend, find_line, label_steps, make_plot
from stiction.studies.clutter.run import NUM_BODIES, STICTION_TOLERANCE, ClutterRun

Vector = NDArray[np.float64]

_BLOCK = 0.02  # time over which steps are averaged to one point of a curve [s]
_ITERATION_TICKS = (0, 2, 4, 6, 8, 10, 20, 50, 100)


def draw_scene(run: ClutterRun) -> Figure:
    """Draws the bodies at the start and at the end, projected on the x-z plane."""
    figure, axes = make_plot(2, height=5.2)
    for panel, qpos, title in zip(axes, (run.start, run.end), ("0 s", "3 s"), strict=True):
        _draw_bodies(panel, qpos)
        panel.set_title(f"{title}, {run.contact_model}")
        panel.set_xlabel("x [m]")
        panel.set_ylabel("z [m]")
    return figure


def _draw_bodies(axes: Axes, qpos: Vector) -> None:
    scene = make_clutter(NUM_BODIES)
    poses = qpos.reshape(-1, 7)
    shapes: list[Patch] = []
    colors = []
    for i in np.argsort(-poses[:, 1]):  # y points away from the viewer: draw near bodies last
        x, _, z = poses[i, :3]
        if scene.bodies[i].is_sphere:
            shapes.append(Circle((x, z), RADIUS))
        else:
            shapes.append(Polygon(_project_box(poses[i])))
        colors.append("#7fb2e5" if scene.bodies[i].is_sphere else "#f0b35a")
    axes.add_collection(PatchCollection(shapes, facecolors=colors, edgecolors="0.25", lw=0.8))
    h = scene.side / 2
    axes.plot([-h, -h, h, h], [0.8, 0, 0, 0.8], color="k", lw=1.5)
    axes.set_aspect("equal")
    axes.set_xlim(-h - 0.1, h + 0.1)
    axes.set_ylim(-0.05, 1.3)


def _project_box(pose: Vector) -> Vector:
    """Returns the outline of a box projected on the x-z plane, (n, 2) [m]."""
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, pose[3:])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    points = (RADIUS * corners @ R.reshape(3, 3).T + pose[:3])[:, [0, 2]]
    return _find_hull(points)


def _find_hull(points: Vector) -> Vector:
    """Returns the convex hull of points in the plane, counterclockwise (Andrew's monotone chain)."""

    def half(ordered: list[Vector]) -> list[Vector]:
        chain: list[Vector] = []
        for p in ordered:
            while len(chain) > 1:
                a, b = chain[-1] - chain[-2], p - chain[-1]
                if a[0] * b[1] - a[1] * b[0] > 0:
                    break
                chain.pop()
            chain.append(p)
        return chain[:-1]

    ordered = sorted(points, key=lambda p: (p[0], p[1]))
    return np.array(half(ordered) + half(ordered[::-1]))


def draw_solver(runs: Mapping[str, ClutterRun]) -> Figure:
    """Draws iterations, averaged over 20 ms, and condition numbers over time."""
    figure, (left, right) = make_plot(2)
    for name, run in runs.items():
        line = find_line(name, list(runs))
        time, iterations = _average(run, run.iterations)
        left.plot(time, iterations, **{**line, "lw": 1.3})
        known = np.isfinite(run.condition)
        if known.any():
            right.plot(run.time[known], run.condition[known], **{**line, "lw": 1.3})
    left.set_ylabel("Newton iterations, largest of all islands")
    right.set_ylabel("condition number of H")
    right.set_yscale("log")
    _finish_time(figure, left, right)
    # 'tamsi' and 'coulomb' take ten times the iterations of the others.
    left.set_yscale("symlog", linthresh=10)
    left.set_yticks(_ITERATION_TICKS, [str(tick) for tick in _ITERATION_TICKS])
    return figure


def draw_stiction_speed(runs: Mapping[str, ClutterRun]) -> Figure:
    """Draws the mean stiction speed of loaded contacts, averaged over 20 ms."""
    figure, (axes,) = make_plot()
    for name, run in runs.items():
        if np.isfinite(run.stiction_speed).any():
            time, speed = _average(run, run.stiction_speed)
            axes.plot(time, speed, **{**find_line(name, list(runs)), "lw": 1.6})
    axes.axhline(STICTION_TOLERANCE, color="k", ls="--", lw=1, label="v_s")
    axes.set_yscale("log")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("effective stiction speed [m/s]")
    axes.legend(frameon=False, fontsize=9)
    return figure


def _average(run: ClutterRun, values: Vector) -> tuple[Vector, Vector]:
    """Averages values over blocks of steps. Returns the times and means of the blocks."""
    size = max(1, round(_BLOCK / run.time_step))
    num = len(values) // size
    blocks = values[: num * size].reshape(num, size)
    known = np.isfinite(blocks).any(axis=1)
    means = np.full(num, np.nan)
    means[known] = np.nanmean(blocks[known], axis=1)
    return run.time[size - 1 : num * size : size], means


def _finish_time(figure: Figure, left: Axes, right: Axes) -> None:
    for axes in (left, right):
        axes.set_xlabel("time [s]")
        axes.set_xlim(0, None)
    left.set_ylim(0, None)
    add_legend(figure, left)


def draw_against_step(runs: Mapping[str, Mapping[float, ClutterRun]]) -> Figure:
    """Draws means over the run as functions of the time step."""
    figure, (left, right) = make_plot(2)
    _draw_means(left, runs, ClutterRun.mean_iterations)
    _draw_means(right, runs, ClutterRun.mean_condition)
    steps = sorted({step for of in runs.values() for step in of})
    for axes in (left, right):
        axes.set_xscale("log")
        label_steps(axes, steps)
    _label_means(left, right)
    add_legend(figure, left)
    return figure


def draw_against_stiffness(runs: Mapping[str, Mapping[float, ClutterRun]]) -> Figure:
    """Draws means over the run as functions of the stiffness."""
    figure, (left, right) = make_plot(2)
    _draw_means(left, runs, ClutterRun.mean_iterations)
    _draw_means(right, runs, ClutterRun.mean_condition)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel("stiffness [N/m]")
    _label_means(left, right)
    add_legend(figure, left)
    return figure


def _label_means(left: Axes, right: Axes) -> None:
    left.set_ylabel("Newton iterations, largest of all islands, mean")
    left.set_ylim(0, None)
    right.set_ylabel("mean condition number of H")
    right.set_yscale("log")


def draw_penetration(runs: Mapping[str, Mapping[float, ClutterRun]]) -> Figure:
    """Draws the penetration in the last 1.25 s over the stiffness, with a line of slope -1.

    The left panel shows the mean, as in the paper, and the right panel the median.
    """
    figure, (left, right) = make_plot(2, height=4.2)
    _draw_penetration(left, runs, "mean", lambda run: run.mean_penetration)
    _draw_penetration(right, runs, "median", lambda run: run.median_penetration)
    right.sharey(left)
    add_legend(figure, left)
    return figure


def _draw_penetration(
    axes: Axes,
    runs: Mapping[str, Mapping[float, ClutterRun]],
    name: str,
    value: Callable[[ClutterRun], float],
) -> None:
    _draw_means(axes, runs, value)
    points = [(k, value(run)) for of in runs.values() for k, run in of.items()]
    if points:
        k0, k1 = min(k for k, _ in points), max(k for k, _ in points)
        depth = 0.4 * min(depth for k, depth in points if k == k0)
        axes.plot([k0, k1], [depth, depth * k0 / k1], "k--", lw=1, label="1/k")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("stiffness [N/m]")
    axes.set_ylabel(f"{name} penetration, last 1.25 s [m]")


def _draw_means(
    axes: Axes,
    runs: Mapping[str, Mapping[float, ClutterRun]],
    value: Callable[[ClutterRun], float],
) -> None:
    for name, of_key in runs.items():
        keys = sorted(of_key)
        values = [value(of_key[key]) for key in keys]
        if np.isfinite(values).any():
            line = {**find_line(name, list(runs)), "lw": 1.4, "alpha": 1}
            axes.plot(keys, values, marker="o", ms=5, **line)
