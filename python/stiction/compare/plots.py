"""Plots of a comparison, as SVG in the text color of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stiction.compare.rows import Comparison
from stiction.errors import Error
from stiction.runs.trace import Trace
from stiction.tables.output_files import remove_picture, write_picture
from stiction.tables.plots import find_color
from stiction.view.film import Film
from stiction.view.stills import draw_stills

Vector = NDArray[np.float64]

# A color that occurs nowhere else. It is replaced by the color of the page's text.
_INK = "#010203"
# More points than this would hide each other if values jump from step to step.
_MAX_POINTS = 150
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": _INK,
    "grid.alpha": 0.14,
}

_DASHES = ("solid", "dashed", "dotted")


def find_styles(comparison: Comparison) -> list[tuple[str, str]]:
    """Returns color and dash of each row. Cases of a model share a color, lighter from the fourth on."""
    styles, count = [], dict[str, int]()
    for row in comparison.rows:
        k = count.get(row.contact_model, 0)
        count[row.contact_model] = k + 1
        share = 0.65 ** (k // len(_DASHES))
        red, green, blue = (1 - (1 - c) * share for c in to_rgb(find_color(row.contact_model)))
        styles.append((to_hex((red, green, blue)), _DASHES[k % len(_DASHES)]))
    return styles


def _find_lines(comparison: Comparison) -> Iterator[tuple[Trace, dict[str, Any]]]:
    """Yields traces with their styles. Lines drawn first are wider, so that they stay visible."""
    models = list(dict.fromkeys(row.contact_model for row in comparison.rows))
    for row, trace, (color, dash) in zip(
        comparison.rows, comparison.traces, find_styles(comparison), strict=True
    ):
        behind = len(models) - 1 - models.index(row.contact_model)
        yield trace, {"color": color, "ls": dash, "lw": 1.5 + 0.8 * min(behind, 4)}


def draw_slip(comparison: Comparison) -> str:
    """Draws the slip of the held body over the time held, on logarithmic axes."""

    def draw(axes: Axes) -> None:
        for trace, line in _find_lines(comparison):
            time, slip = trace["time"] - comparison.hold_start, 1e6 * trace["slip"]
            # A log scale cannot show upward slip, which occurs while the motion of the lift decays.
            shown = (slip > 1e-3) & (time > 0)
            time, slip = time[shown], slip[shown]
            if len(time) == 0:
                continue
            # Choose points that are evenly spaced on the log axis and include the last one.
            index = np.unique(np.geomspace(1, len(time), _MAX_POINTS).astype(int) - 1)
            axes.plot(time[index], slip[index], **line)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("time held [s]")
        axes.set_ylabel("slip out of the grip [µm]")

    return _draw("slip", draw)


@dataclass(frozen=True)
class _Quantity:
    """A quantity over time. `reduce` combines the values of neighboring steps to one point."""

    name: str
    label: str
    calc: Callable[[Trace], Vector]
    log: bool = False
    reduce: Callable[[Vector], np.floating] = np.max


def draw_penetration(comparison: Comparison) -> str:
    """Draws the deepest overlap on a log scale."""
    depth = _Quantity("penetration", "deepest overlap [µm]", lambda t: 1e6 * t["depth"], log=True)
    return _draw_traces(comparison, depth)


def draw_residual(comparison: Comparison) -> str:
    """Draws the relative residual of each step and the tolerance on a log scale."""

    def draw_tolerance(axes: Axes) -> None:
        axes.axhline(comparison.tolerance, color=_INK, lw=1, ls=(0, (6, 3)))
        axes.annotate(
            "tolerance", (1, comparison.tolerance), xycoords=("axes fraction", "data"),
            xytext=(0, 4), textcoords="offset points", ha="right",
        )  # fmt: skip

    residual = _Quantity(
        "residual", "relative residual", lambda t: t["relative_residual"], log=True
    )
    return _draw_traces(comparison, residual, draw_tolerance)


def draw_velocity_bound(comparison: Comparison) -> str:
    """Draws the bound on the error of contact velocities on a log scale."""
    bound = _Quantity(
        "bound", "bound on the velocity error [µm/s]", lambda t: 1e6 * t["velocity_bound"], log=True
    )
    return _draw_traces(comparison, bound)


def draw_iterations(comparison: Comparison) -> str:
    """Draws the Newton iterations, averaged over neighboring steps."""
    iterations = _Quantity(
        "iterations", "iterations per step", lambda t: t["iterations"], reduce=np.mean
    )
    return _draw_traces(comparison, iterations)


def draw_cost(comparison: Comparison) -> str:
    """Draws the wall time per step, as medians, up to twice the 95th percentile because of spikes."""

    def cut(axes: Axes) -> None:
        us = np.concatenate([trace["us"] for trace in comparison.traces])
        axes.set_ylim(0, 2 * float(np.percentile(us, 95)))

    cost = _Quantity("cost", "µs per step", lambda t: t["us"], reduce=np.median)
    return _draw_traces(comparison, cost, cut)


def _draw_traces(
    comparison: Comparison, quantity: _Quantity, more: Callable[[Axes], None] = lambda axes: None
) -> str:
    """Draws one line per case over time, and then what `more` adds."""

    def draw(axes: Axes) -> None:
        for trace, line in _find_lines(comparison):
            x, y = _thin(trace["time"], quantity.calc(trace), quantity.reduce)
            # Values up to 1e-16, zero among them, are round-off, and a log scale has no zero.
            axes.plot(x, np.where(y > 1e-16, y, np.nan) if quantity.log else y, **line)
        if quantity.log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_xlabel("time [s]")
        axes.set_ylabel(quantity.label)
        more(axes)

    return _draw(quantity.name, draw)


def _thin(x: Vector, y: Vector, reduce: Callable[[Vector], np.floating]) -> tuple[Vector, Vector]:
    """Reduces a curve to at most _MAX_POINTS points."""
    if len(x) <= _MAX_POINTS:
        return x, y
    bins = np.array_split(np.arange(len(x)), _MAX_POINTS)
    return np.array([x[b[-1]] for b in bins]), np.array([reduce(y[b]) for b in bins])


def _draw(name: str, draw: Callable[[Axes], None]) -> str:
    # The salt makes the ids of a plot unique on the page and equal from run to run.
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        if axes.get_yscale() == "log":
            _widen(axes)
        file = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Remove height and width, so that the page sets the size.
    svg = re.sub(r'(<svg[^>]*?) (?:height|width)="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) (?:height|width)="[^"]*"', r"\1", svg, count=1)
    # matplotlib gives these ids without the salt; the plot's name makes them unique.
    return re.sub(
        r'id="(?=(?:figure|patch|axes|matplotlib|xtick|ytick|line2d|text|legend))',
        f'id="{name}-',
        svg,
    )


def _widen(axes: Axes) -> None:
    """Sets the limits of a log axis that shows a single value or nothing."""
    shown = [y for line in axes.lines for y in np.asarray(line.get_ydata()) if np.isfinite(y)]
    if not shown or min(shown) == max(shown):
        middle = shown[0] if shown else 1.0
        axes.set_autoscaley_on(False)  # autoscaling would warn that all values are equal
        axes.set_ylim(middle / 10, middle * 10)


# ---- Pictures of the patches of a comparison, for pages that replay nothing ----------------------


def find_last_touch(films: Sequence[Film]) -> float | None:
    """Returns the time of the last step for which a film has a patch [s]; None if there is none."""
    for frame in sorted(
        (frame for film in films for frame in film.frames), key=lambda frame: -frame.start_time
    ):
        if frame.read()[0].num_faces:
            return frame.start_time
    return None


def write_stills(films: Sequence[Film], path: Path) -> Path | None:
    """Draws the patches of each contact model side by side, at the last time at which one has patches.

    Returns None if no film has patches; then a picture of an earlier comparison is removed.
    """
    time = find_last_touch(films)
    if time is None:
        remove_picture(path)
        return None
    figure = draw_stills(films[0], [(film.name, film.find_frame(time)) for film in films])
    try:
        write_picture(figure, path)
    except OSError as e:
        raise Error("invalid_value", str(path), f"cannot be written: {e.strerror or e}") from e
    return path
