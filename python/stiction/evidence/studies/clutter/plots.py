"""Plots of the clutter: figures 13 to 18 of [castro2023]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Polygon
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from stiction.evidence.experiments.clutter import RADIUS, make_clutter
from stiction.evidence.studies.clutter.measures import Sweep, measure
from stiction.evidence.studies.clutter.run import NUM_BODIES, STICTION_TOLERANCE, ClutterRun
from stiction.tables.plots import add_legend, find_line, label_steps, make_plot

Vector = NDArray[np.float64]

_BLOCK = 0.02  # time over which steps are averaged to one point of a curve [s]
_ITERATION_TICKS = (0, 2, 4, 6, 8, 10, 20, 50, 100)


def draw_scene(run: ClutterRun) -> Figure:
    """Draws the bodies at the start and at the end, projected on the x-z plane."""
    figure, axes = make_plot(2, height=5.2)
    for panel, qpos, title in zip(axes, (run.start, run.end), ("0 s", "3 s"), strict=True):
        _draw_bodies(panel, qpos)
        panel.set(title=f"{title}, {run.case.contact_model}", xlabel="x [m]", ylabel="z [m]")
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
    axes.set(aspect="equal", xlim=(-h - 0.1, h + 0.1), ylim=(-0.05, 1.3))


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
        line = {**_find_line(name, runs), "lw": 1.3}
        time, iterations = _average(run, run.iterations)
        left.plot(time, iterations, **line)
        known = np.isfinite(run.condition)
        if known.any():
            right.plot(run.time[known], run.condition[known], **line)
    left.set_ylabel("Newton iterations, largest of all islands")
    right.set(ylabel="condition number of H", yscale="log")
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
            axes.plot(time, speed, **{**_find_line(name, runs), "lw": 1.6})
    axes.axhline(STICTION_TOLERANCE, color="k", ls=":", lw=1, label="v_s")
    axes.set(yscale="log", xlabel="time [s]", ylabel="effective stiction speed [m/s]")
    axes.legend(frameon=False, fontsize=9)
    return figure


def _find_line(name: str, runs: Mapping[str, ClutterRun]) -> dict[str, Any]:
    """Returns the line of a model. A variant has the color of its model, and is dashed."""
    models = [run.case.contact_model for run in runs.values()]
    model = runs[name].case.contact_model
    line = find_line(model, models)
    return line if name == model else {**line, "label": name, "ls": "--"}


def _average(run: ClutterRun, values: Vector) -> tuple[Vector, Vector]:
    """Averages values over blocks of steps. Returns the times and means of the blocks."""
    size = max(1, round(_BLOCK / run.case.time_step))
    num = len(values) // size
    blocks = values[: num * size].reshape(num, size)
    known = np.isfinite(blocks).any(axis=1)
    means = np.full(num, np.nan)
    means[known] = np.nanmean(blocks[known], axis=1)
    return run.time[size - 1 : num * size : size], means


def _finish_time(figure: Figure, left: Axes, right: Axes) -> None:
    for axes in (left, right):
        axes.set(xlabel="time [s]", xlim=(0, None))
    left.set_ylim(0, None)
    add_legend(figure, left)


def draw_against_step(runs: Sweep) -> Figure:
    """Draws iterations and condition numbers over the time step, with the spread over the scenes."""
    figure, (left, right) = _draw_sweep(runs)
    steps = sorted({step for of in runs.values() for step in of})
    for axes in (left, right):
        label_steps(axes, steps)
    return figure


def draw_against_stiffness(runs: Sweep) -> Figure:
    """Draws iterations and condition numbers over the stiffness, with the spread over the scenes."""
    figure, (left, right) = _draw_sweep(runs)
    for axes in (left, right):
        axes.set_xlabel("stiffness [N/m]")
    return figure


def _draw_sweep(runs: Sweep) -> tuple[Figure, list[Axes]]:
    figure, (left, right) = make_plot(2)
    _draw_means(left, runs, ClutterRun.mean_iterations)
    _draw_means(right, runs, ClutterRun.mean_condition)
    for axes in (left, right):
        axes.set_xscale("log")
    left.set(ylabel="Newton iterations, mean", yscale="log")
    left.set_yticks(_ITERATION_TICKS[1:], [str(tick) for tick in _ITERATION_TICKS[1:]])
    left.yaxis.set_minor_locator(NullLocator())
    right.set(ylabel="mean condition number of H", yscale="log")
    add_legend(figure, left)
    return figure, [left, right]


def draw_penetration(runs: Sweep) -> Figure:
    """Draws mean and median penetration in the last 1.25 s over the stiffness, with slope -1."""
    figure, (left, right) = make_plot(2, height=4.2)
    _draw_penetration(left, runs, "mean", lambda run: run.mean_penetration)
    _draw_penetration(right, runs, "median", lambda run: run.median_penetration)
    right.sharey(left)
    add_legend(figure, left)
    return figure


def _draw_penetration(
    axes: Axes, runs: Sweep, name: str, value: Callable[[ClutterRun], float]
) -> None:
    _draw_means(axes, runs, value)
    points = [(k, measure(of[k], value).mean) for of in runs.values() for k in of]
    if points:
        k0, k1 = min(k for k, _ in points), max(k for k, _ in points)
        depth = 0.4 * min(depth for k, depth in points if k == k0)
        axes.plot([k0, k1], [depth, depth * k0 / k1], "k--", lw=1, label="1/k")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("stiffness [N/m]")
    axes.set_ylabel(f"{name} penetration, last 1.25 s [m]")


def _draw_means(axes: Axes, runs: Sweep, value: Callable[[ClutterRun], float]) -> None:
    """Draws the geometric mean over the scenes, with bars of one standard deviation."""
    first = {name: next(iter(of_key.values()))[0] for name, of_key in runs.items()}
    for name, of_key in runs.items():
        keys = sorted(of_key)
        points = [measure(of_key[key], value) for key in keys]
        means = np.array([point.mean for point in points])
        if not np.isfinite(means).any():
            continue
        spread = np.array([point.spread for point in points])
        bars = np.vstack([means - means / spread, means * spread - means])
        line = {**_find_line(name, first), "lw": 1.4, "alpha": 1}
        axes.errorbar(keys, means, yerr=bars, marker="o", ms=4, elinewidth=1, capsize=2, **line)
