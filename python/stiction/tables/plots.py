"""Plots for studies and benchmarks: a common style, lines by contact model, convergence plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from stiction._core import contact_model_traits, contact_models

_GRAY = "#888888"
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
}
_MARKERS = "osD^vPX*"


def find_color(contact_model: str) -> str:
    """Returns the color of a contact model, the same wherever it is drawn; gray if the table has none."""
    if contact_model not in contact_models():
        return _GRAY
    return contact_model_traits(contact_model).color or _GRAY


def make_plot(columns: int = 1, rows: int = 1, *, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """Returns a figure and its axes, row by row."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.2 * columns if columns > 1 else 6.4, height * rows))
        figure.set_layout_engine("constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
        return figure, list(axes.flat)


def find_line(contact_model: str, contact_models: Sequence[str]) -> dict[str, Any]:
    """Returns color, label and width of a model's line; lines drawn first are wider, and stay visible."""
    names = list(contact_models)
    # The peaks of mj_step would hide the other lines.
    if contact_model_traits(contact_model).is_mj_step:
        return {
            "color": find_color(contact_model),
            "label": contact_model,
            "lw": 1,
            "alpha": 0.35,
            "zorder": 1,
        }
    behind = len(names) - 1 - names.index(contact_model)
    return {
        "color": find_color(contact_model),
        "label": contact_model,
        "lw": 1.2 + 0.7 * min(behind, 5),
    }


def draw_convergence(
    axes: Axes, errors: Mapping[str, Mapping[float, float]], label: str, *, order: float = 1
) -> None:
    """Draws errors by contact model and time step on logarithmic axes, and the slope of an order."""
    for i, (name, of_steps) in enumerate(errors.items()):
        steps = sorted(of_steps)
        line = find_line(name, list(errors))
        axes.plot(
            steps,
            [of_steps[s] for s in steps],
            marker=_MARKERS[i % len(_MARKERS)],
            ms=max(4, 10 - 1.2 * i),
            **{**line, "lw": 1.4, "alpha": 1},
        )
    everything = np.array([[s, e] for of in errors.values() for s, e in of.items() if e > 0])
    if len(everything):
        first, last = everything[:, 0].min(), everything[:, 0].max()
        # Start the line below the smallest error of the smallest step.
        base = 0.5 * min(e for s, e in everything if s == first)
        ends = np.array([first, last])
        axes.plot(ends, base * (ends / first) ** order, "k--", lw=1, label=f"order {order:g}")
    make_log_log(axes)
    label_steps(axes, sorted({step for of in errors.values() for step in of}))
    axes.set_ylabel(label)
    axes.legend(frameon=False, fontsize=9)


def make_log_log(axes: Axes) -> None:
    """Makes both axes logarithmic."""
    axes.set_xscale("log")
    axes.set_yscale("log")


def label_steps(axes: Axes, steps: Sequence[float]) -> None:
    """Labels a logarithmic axis of time steps with exactly these steps."""
    axes.set_xticks(steps, [f"{step:g}" for step in steps])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("time step [s]")


def add_legend(figure: Figure, axes: Axes) -> None:
    """Adds the legend of one of the axes above the figure, for all of them."""
    handles, labels = axes.get_legend_handles_labels()
    # If several lines have the same label, show the first.
    first = dict(zip(reversed(labels), reversed(handles), strict=True))
    names = list(dict.fromkeys(labels))
    figure.legend(
        [first[name] for name in names], names, loc="outside upper center", ncols=min(len(names), 7),
        frameon=False, fontsize=9,
    )  # fmt: skip
