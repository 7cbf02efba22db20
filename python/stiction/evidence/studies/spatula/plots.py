"""Plots of the spatula study."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stiction.evidence.experiments.spatula import FlatPatch, GripWave, SpatulaRun
from stiction.setup.options import DEFAULTS
from stiction.tables.plots import find_color, find_line, label_steps, make_plot

_OURS = find_color(DEFAULTS["contact_model"])
_STICKS, _SLIPS = "black", "crimson"  # colors of arrows


def draw_motion(wave: GripWave, runs: Mapping[str, SpatulaRun], title: str) -> Figure:
    """Draws the pitch over time by contact model. The tight phases are gray."""
    figure, (axes,) = make_plot(1)
    for name, run in runs.items():
        axes.plot(run.time, run.pitch, **find_line(name, list(runs)))
    _shade_tight(axes, wave, next(iter(runs.values())).time[-1])
    axes.set(title=title, xlabel="time [s]", ylabel="pitch [rad]")
    axes.legend(frameon=False, fontsize=9)
    return figure


def draw_grip(wave: GripWave, run: SpatulaRun) -> Figure:
    """Draws figure 10: the grip force over time, and the pitch that it controls."""
    figure, (left, right) = make_plot(2)
    left.plot(run.time, run.pressing, color=_OURS, lw=1.2, label="patches")
    left.step(run.time, run.force, "k--", where="pre", lw=1, label="command")
    left.set_ylabel("grip force [N]")
    left.legend(frameon=False, fontsize=9)
    right.plot(run.time, run.pitch, color=_OURS, lw=1.4)
    right.set_ylabel("pitch [rad]")
    for axes in (left, right):
        _shade_tight(axes, wave, run.time[-1])
        axes.set_xlabel("time [s]")
    return figure


def draw_pressure(patches: Mapping[str, FlatPatch]) -> Figure:
    """Draws a patch on the handle by phase, as in figure 1: pressure and friction of its faces."""
    figure, panels = make_plot(len(patches), height=2.9)
    for axes, (phase, patch) in zip(panels, patches.items(), strict=True):
        axes.grid(visible=False)
        axes.set_aspect("equal")
        faces = PolyCollection([1e3 * face for face in patch.faces], edgecolor="0.4", lw=0.4)
        faces.set(array=1e-3 * patch.pressure, cmap="YlGnBu", clim=(0, None))
        axes.add_collection(faces)
        figure.colorbar(faces, ax=axes, label="pressure [kPa]", shrink=0.8)
        largest = np.linalg.norm(patch.friction, axis=1).max()
        for is_chosen, color in ((~patch.slipping, _STICKS), (patch.slipping, _SLIPS)):
            x, y = 1e3 * patch.center[is_chosen].T
            u, v = patch.friction[is_chosen].T
            axes.quiver(x, y, u, v, color=color, scale=12 * largest, width=0.004)
        axes.set_title(
            f"{phase}: {len(patch.faces)} faces, friction up to {1e-3 * largest:.2g} kPa"
        )
        axes.set_xlabel("along the handle [mm]")
        axes.set_ylabel("across [mm]")
        axes.autoscale_view()
    arrows = [Line2D([], [], color=color, marker=">") for color in (_STICKS, _SLIPS)]
    labels = ["friction on the handle, sticks", "slips"]
    figure.legend(arrows, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return figure


def draw_patches(wave: GripWave, run: SpatulaRun) -> Figure:
    """Draws area, number of faces and slip speed over time. The tight phases are gray."""
    figure, (area, faces, slip) = make_plot(3)
    area.plot(run.time, 1e4 * run.area, color=_OURS)
    area.set_ylabel("area of both patches [cm$^2$]")
    faces.plot(run.time, run.faces, color=_OURS, lw=1)
    faces.set_ylabel("faces")
    slip.semilogy(run.time, np.maximum(run.slip_speed, 1e-9), color=_OURS, lw=1)
    slip.set_ylabel("slip speed, mean over the area [m/s]")
    for axes in (area, faces, slip):
        _shade_tight(axes, wave, run.time[-1])
        axes.set_xlabel("time [s]")
    return figure


def draw_convergence(
    steps: Mapping[float, float], speeds: Mapping[float, float], time: float
) -> Figure:
    """Draws the pitch at a time as a function of the time step and of the stiction tolerance."""
    figure, (left, right) = make_plot(2)
    left.semilogx(list(steps), list(steps.values()), "o-", color=_OURS)
    label_steps(left, sorted(steps))
    left.set_ylim(0, 1.25 * max(steps.values()))
    right.semilogx(list(speeds), list(speeds.values()), "o-", color=_OURS)
    right.set(ylim=(0, 1.1 * max(speeds.values())), xlabel="stiction tolerance [m/s]")
    for axes in (left, right):
        axes.set_ylabel(f"pitch at {time:g} s [rad]")
    return figure


def _shade_tight(axes: Axes, wave: GripWave, end: float) -> None:
    """Shades the phases in which the grip is tight."""
    for start in np.arange(0, end, wave.period):
        axes.axvspan(start, min(start + wave.duty * wave.period, end), color="k", alpha=0.06, lw=0)
    axes.set_xlim(0, end)
