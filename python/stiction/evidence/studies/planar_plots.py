"""Plots that the planar studies share."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stiction.evidence.experiments.planar import Trajectory
from stiction.evidence.experiments.planar_case import Errors
from stiction.tables.plots import add_legend, draw_convergence, find_line, make_plot

_LABELS = {
    "slip_velocity": "slip velocity [m/s]",
    "friction_force": "friction force [N]",
    "normal_velocity": "normal velocity [m/s]",
    "normal_force": "normal force [N]",
}


def draw_contact(
    runs: Mapping[str, Trajectory],
    limits: Mapping[str, tuple[float, float]],
    time_span: tuple[float, float],
) -> tuple[Figure, list[Axes]]:
    """Draws velocities and forces of the contact over time, one panel each."""
    figure, axes = make_plot(2, 2, height=2.8)
    for panel, (field, shown) in zip(axes, limits.items(), strict=True):
        for name, run in runs.items():
            panel.plot(run.time[1:], getattr(run, field)[1:], **find_line(name, list(runs)))
        panel.set_ylabel(_LABELS[field])
        panel.set_ylim(*shown)
        panel.set_xlim(*time_span)
    for panel in axes[2:]:
        panel.set_xlabel("time [s]")
    add_legend(figure, axes[0])
    return figure, axes


def draw_errors(errors: Mapping[str, Errors], label: str, *, height: float = 3.6) -> Figure:
    """Draws errors over the time step."""
    figure, axes = make_plot(len(errors), height=height)
    for panel, (title, of_models) in zip(axes, errors.items(), strict=True):
        draw_convergence(panel, of_models, label)
        if len(errors) > 1:
            panel.set_title(title)
    return figure
