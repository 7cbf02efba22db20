"""Figures 4 and 5 of [castro2023]: the sphere."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from stiction.evidence.experiments.falling_sphere import CASE, HEIGHT, RADIUS, ROLLING_TIME
from stiction.evidence.experiments.planar import GRAVITY, Trajectory
from stiction.evidence.experiments.planar_case import Runs
from stiction.evidence.studies.planar_plots import draw_contact
from stiction.tables.colors import find_color
from stiction.tables.plots import make_plot

STEP_SHOWN = 2e-3  # time step of figure 5 [s]


def draw_motion(reference: Trajectory) -> Figure:
    """Draws the sphere every 30 ms, and marks where it touches the ground and where it rolls."""
    figure, (axes,) = make_plot(height=2.6)
    axes.axhline(0, color="k", lw=1)
    axes.plot(reference.x, reference.z, color=find_color("lagged"), lw=1.5)
    for time in np.arange(0, CASE.duration + 1e-9, 0.03):
        i = round(time / CASE.sampling)
        x, z, theta = reference.q[i]
        axes.add_patch(Circle((x, z), RADIUS, fill=False, ec="0.3"))
        # Draw a spoke, which points down at the start, to show the rotation.
        axes.plot([x, x + RADIUS * math.sin(theta)], [z, z - RADIUS * math.cos(theta)], color="0.3")
    for time, word, shift in (
        (math.sqrt(2 * HEIGHT / GRAVITY), "touches", -0.02),
        (ROLLING_TIME, "rolls", 0.03),
    ):
        x = float(np.interp(time, reference.time, reference.x))
        axes.annotate(
            f"{word} at {time:.4f} s",
            (x, 0),
            xytext=(x + shift, 0.125),
            ha="right" if shift < 0 else "left",
            arrowprops={"arrowstyle": "-", "color": "0.5"},
            fontsize=9,
        )
    axes.set(aspect="equal", ylim=(-0.01, 0.15), xlabel="x [m]", ylabel="z [m]")
    return figure


def draw_velocity_and_force(runs: Runs) -> Figure:
    """Draws the panels of figure 5. Their limits cut off the forces of the impact."""
    limits = {
        "slip_velocity": (-0.1, 2.1),
        "friction_force": (-6, 1),
        "normal_velocity": (-0.08, 0.02),
        "normal_force": (0, 12),
    }
    shown = {name: of_steps[STEP_SHOWN] for name, of_steps in runs.items()}
    figure, axes = draw_contact(shown, limits, (0.085, 0.14))
    for panel in axes:
        panel.axvline(ROLLING_TIME, color="k", lw=0.8, ls=":")
    return figure
