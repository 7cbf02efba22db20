"""Plots of the quadruped study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from stiction.evidence.studies.quadruped.run import WalkRun
from stiction.evidence.studies.quadruped.terrain import Terrain
from stiction.tables.plots import add_legend, find_color, make_plot

Runs = Mapping[str, WalkRun]

# Styles for two solvers of one model, whose lines coincide.
_SOLVERS: dict[str, dict[str, Any]] = {
    "ppm_ratio": {"color": find_color("viscous"), "lw": 2.6},
    "lemke": {"color": find_color("mujoco"), "ls": "--"},
}


def draw_walk(runs: Runs) -> Figure:
    """Draws position along x, height, pitch and number of contacts over time by contact model."""
    figure, axes = make_plot(2, 2, height=3.0)
    ahead, height, pitch, contacts = axes
    for name, run in runs.items():
        line: dict[str, Any] = {"color": find_color(name), "lw": 1.1, "label": name}
        line |= _SOLVERS.get(name, {})
        ahead.plot(run.time, run.base[:, 0], **line)
        height.plot(run.time, 1e3 * run.base[:, 2], **line)
        pitch.plot(run.time, 1e3 * run.rpy[:, 1], **line)
        contacts.plot(run.time, run.contacts, **{**line, "lw": 0.6})
    ahead.set_ylabel("x of the base [m]")
    height.set_ylabel("z of the base [mm]")
    pitch.set_ylabel("pitch, nose down [mrad]")
    contacts.set_ylabel("contacts per step")
    for each in axes:
        each.set_xlabel("time [s]")
    add_legend(figure, ahead)
    return figure


def draw_contacts(runs: Runs) -> Figure:
    """Draws histograms of the number of contacts, and of active contacts, by contact model."""
    figure, axes = make_plot(2)
    for name, run in runs.items():
        for each, counts in zip(axes, (run.contacts, run.loaded), strict=True):
            share = np.bincount(counts, minlength=1) / max(1, len(counts))
            each.step(np.arange(len(share)), share, where="mid", color=find_color(name), label=name)
    axes[0].set_xlabel("contacts per step")
    axes[1].set_xlabel("active contacts per step")
    axes[0].set_ylabel("fraction of steps")
    add_legend(figure, axes[0])
    return figure


def draw_hills(terrain: Terrain, runs: Runs) -> Figure:
    """Draws the base's height minus 140 mm over its position along x, with the ground at y = 0."""
    figure, (axes,) = make_plot(1)
    end = max(run.base[:, 0].max(initial=0) for run in runs.values())
    x = np.linspace(-0.1, end + 0.1, 400)
    ground = [terrain.calc_height(at, 0) for at in x]
    axes.fill_between(x, 0, 1e3 * np.array(ground), color="k", alpha=0.2, lw=0)
    for name, run in runs.items():
        axes.plot(
            run.base[:, 0], 1e3 * run.base[:, 2] - 140, color=find_color(name), label=name, lw=1
        )
    axes.set(xlabel="x of the base [m]", ylabel="z of the ground, and of the base minus 140 [mm]")
    axes.legend(frameon=False, fontsize=9)
    return figure
