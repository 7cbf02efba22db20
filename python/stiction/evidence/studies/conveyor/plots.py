"""Figures 1 and 2 of [castro2023]: the box on the belt."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from stiction.evidence.experiments.conveyor import CASE, calc_belt_position
from stiction.evidence.experiments.planar import Trajectory, Vector
from stiction.evidence.experiments.planar_case import Runs
from stiction.evidence.studies.planar_plots import draw_contact
from stiction.tables.colors import find_color
from stiction.tables.plots import make_plot

STEP_SHOWN = 1e-2  # time step of figure 2 [s]


def draw_motion(reference: Trajectory, exact: Vector) -> Figure:
    """Draws the positions of belt and box, and the slip velocity with the exact one."""
    figure, (left, right) = make_plot(2)
    time = reference.time
    slips = np.abs(exact[:, 1]) > 1e-9
    for axes in (left, right):
        low, high = (-0.25, 0.25) if axes is left else (-0.13, 0.13)
        axes.fill_between(
            time, low, high, where=slips, color="k", alpha=0.07, lw=0, label="slip, exact"
        )
        axes.set(ylim=(low, high), xlabel="time [s]")
    left.plot(time, calc_belt_position(time), color="0.5", label="belt")
    left.plot(time, calc_belt_position(time) + reference.x, color=find_color("lagged"), label="box")
    left.set_ylabel("x [m]")
    right.plot(time, exact[:, 1], color="0.5", lw=4, label="Coulomb, exact")
    right.plot(time, reference.slip_velocity, color=find_color("lagged"), label="reference, lagged")
    right.set_ylabel("slip velocity [m/s]")
    left.legend(loc="lower right", fontsize=9)
    right.legend(loc="lower right", fontsize=9)
    return figure


def draw_velocity_and_force(runs: Runs) -> Figure:
    """Draws the panels of figure 2. Their limits cut off the peaks of 'mujoco'."""
    limits = {
        "slip_velocity": (-0.13, 0.13),
        "friction_force": (-9, 9),
        "normal_velocity": (-0.025, 0.025),
        "normal_force": (8.8, 11.5),
    }
    shown = {name: of_steps[STEP_SHOWN] for name, of_steps in runs.items()}
    return draw_contact(shown, limits, (0, CASE.duration))[0]
