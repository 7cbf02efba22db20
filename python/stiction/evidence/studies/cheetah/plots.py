"""Plots of the replayed gait."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stiction.tables.colors import find_color
from stiction.tables.plots import add_legend, make_plot

# Lines that lie on others: those of coulomb, lagged_regularized and rigid_coulomb.
_DASHED = ("tamsi", "lagged", "stewart_trinkle")


def draw_ways(
    ways: Mapping[str, Mapping[float, NDArray[np.float64]]], period: float, planned_under: str
) -> Figure:
    """Draws the way along x over time, one plot for each time step.

    Args:
        ways: positions [m] by contact model and time step.
        period: time for which a control is held [s].
        planned_under: the contact model of the plan.
    """
    steps = list(next(iter(ways.values())))
    figure, panels = make_plot(len(steps), height=3.6)
    for axes, step in zip(panels, steps, strict=True):
        for name, of_steps in sorted(ways.items(), key=lambda item: item[0] in _DASHED):
            way = of_steps[step]
            style = {"lw": 2.0, "ls": (0, (2, 2))} if name in _DASHED else {"lw": 2.2}
            time = period * np.arange(len(way))
            axes.plot(time, way, color=find_color(name), label=name, **style)
        axes.set_title(f"planned under {planned_under}, replayed at {1e3 * step:g} ms")
        axes.set_xlabel("time [s]")
    panels[0].set_ylabel("x of the torso [m]")
    for axes in panels[1:]:
        axes.sharey(panels[0])
    add_legend(figure, panels[0])
    return figure
