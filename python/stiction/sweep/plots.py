"""The plot of a sweep: for each scene drift and error bounds against cost, by model and time step."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from stiction._core import contact_models
from stiction.errors import Error
from stiction.sweep.table import Row
from stiction.tables.plots import STYLE, find_color

_DPI = 120
_MAX_SCENES = 40
_FLOOR = 1e-6  # smaller values, zero among them, are drawn here; a log scale has no zero [um/s, um]
_MARKERS = "osD^vP*X"
# Lines of the combinations of parameters. With more combinations, lines join medians over them.
_DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))

Point = tuple[float, float]


@dataclass(frozen=True)
class _Quantity:
    """The content of a panel: a column of the table, and the label of the axis, in um or um/s."""

    column: str
    name: str
    label: str

    def find(self, row: Row) -> float | None:
        """Returns the value of a row in um or um/s, or None if it has none."""
        value = row.get(self.column)
        return None if value is None else max(_FLOOR, 1e6 * abs(value))


_CREEP = _Quantity("creep", "creep", "creep of the held body [µm/s]")
_DRIFT = _Quantity("drift", "drift", "largest drift of a body [µm]")
_BOUND = _Quantity("velocity_bound", "bound", "bound on the velocity error [µm/s]")


def draw_summary(rows: Sequence[Row], parameters: Sequence[str], path: Path) -> Path | None:
    """Draws the plot of a sweep into a PNG file. Returns None if no run has completed a step."""
    shown = [row for row in rows if row["num_steps"]]
    if not shown:
        return None
    with matplotlib.rc_context(STYLE):
        figure = _Summary(rows, parameters).draw(list(dict.fromkeys(r["scene"] for r in shown)))
        try:
            figure.savefig(path, dpi=_DPI)
        except OSError as e:
            raise Error("invalid_value", str(path), f"cannot be written: {e.strerror}") from e
    return path


class _Summary:
    """Draws rows of panels, one for each scene."""

    def __init__(self, rows: Sequence[Row], parameters: Sequence[str]) -> None:
        self._rows = rows
        self._parameters = parameters
        self._steps = sorted({row["time_step"] for row in rows})
        combinations = list(dict.fromkeys(self._describe_parameters(row) for row in rows))
        self._dashes: dict[str, Any] = {}
        if len(combinations) <= len(_DASHES):
            self._dashes = dict(zip(combinations, _DASHES, strict=False))

    def draw(self, scenes: list[str]) -> Figure:
        drawn = scenes[:_MAX_SCENES]
        figure = Figure(figsize=(10.5, 0.9 + 3.5 * len(drawn)), layout="constrained")
        grid = figure.subplots(len(drawn), 2, squeeze=False)
        for scene, (left, right) in zip(drawn, grid, strict=True):
            rows = [row for row in self._rows if row["scene"] == scene]
            has_creep = any(row["creep"] is not None for row in rows)
            for axes, quantity in ((left, _CREEP if has_creep else _DRIFT), (right, _BOUND)):
                self._draw_panel(axes, quantity, rows)
            left.set_title(_describe_scene(scene, rows), loc="left")
        self._add_legend(figure)
        notes = []
        if len(scenes) > len(drawn):
            notes.append(f"{len(scenes) - len(drawn)} more scenes are in the table only.")
        if not self._dashes:
            notes.append("Large: median over the parameters. Small: each run.")
        figure.supxlabel(" ".join(notes), fontsize=9, color="0.4")
        return figure

    def _describe_parameters(self, row: Row) -> str:
        """Returns a label of the parameters that the contact model of a row reads."""
        values = {name: row.get(name) for name in self._parameters}
        return ", ".join(f"{name} {v}" for name, v in values.items() if v is not None)

    def _draw_panel(self, axes: Axes, quantity: _Quantity, rows: list[Row]) -> None:
        """Draws the lines of each model, from the largest to the smallest time step."""
        missing: list[str] = []
        for model in _order_models(rows):
            of_model = [row for row in rows if row["contact_model"] == model]
            if not self._draw_model(axes, model, quantity, of_model):
                missing.append(model)
        _make_log_log(axes)
        _label_cost(axes)
        axes.set_ylabel(quantity.label)
        if missing:
            text = f"no {quantity.name}: {', '.join(missing)}"
            axes.set_title(textwrap.fill(text, 38), loc="right", fontsize=8, color="0.4")

    def _draw_model(self, axes: Axes, model: str, quantity: _Quantity, rows: list[Row]) -> bool:
        """Draws the lines of a model. Returns False if no run has the quantity."""
        color, is_drawn = find_color(model), False
        for label, of_line in self._split_lines(rows).items():
            middles: list[Point] = []
            for step in self._steps:
                points = _find_points(of_line, step, quantity)
                if not points:
                    continue
                marker = self._find_marker(step)
                middles.append(_find_middle(points))
                axes.plot(*middles[-1], marker=marker, ms=7, color=color, mec="white", mew=0.6)
                if len(points) > 1:
                    x, y = zip(*points, strict=True)
                    axes.plot(x, y, ls="", marker=marker, ms=3, color=color, alpha=0.45)
            if middles:
                is_drawn = True
                x, y = zip(*middles, strict=True)
                axes.plot(
                    x, y, color=color, lw=1.3, ls=self._dashes.get(label, "solid"), zorder=1.5
                )
        return is_drawn

    def _split_lines(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Returns the rows of each line by the label of their parameters."""
        lines: dict[str, list[Row]] = {}
        for row in rows:
            lines.setdefault(self._describe_parameters(row) if self._dashes else "", []).append(row)
        return lines

    def _find_marker(self, step: float) -> str:
        return _MARKERS[self._steps.index(step) % len(_MARKERS)]

    def _add_legend(self, figure: Figure) -> None:
        """Adds the colors of models, markers of time steps and dashes of parameters above all."""
        models = [
            Line2D([], [], color=find_color(model), lw=2.5, label=model)
            for model in _order_models(self._rows)
        ]
        steps = [
            Line2D([], [], ls="", marker=self._find_marker(s), color="0.3", label=f"{1e3 * s:g} ms")
            for s in self._steps
        ]
        lines = [
            Line2D([], [], color="0.3", lw=1.3, ls=dash, label=label)
            for label, dash in self._dashes.items()
            if label
        ]
        handles = [*models, *steps, *lines]
        figure.legend(
            handles=handles, loc="outside upper center", ncols=min(len(handles), 6),
            frameon=False, fontsize=9,
        )  # fmt: skip


def _describe_scene(scene: str, rows: list[Row]) -> str:
    failed = sum(row["status"] != "ok" for row in rows)
    dropped = sum(bool(row["dropped"]) for row in rows)
    notes = [f"{n} {what}" for n, what in ((failed, "failed"), (dropped, "dropped")) if n]
    return f"{scene}: {len(rows)} runs" + "".join(f", {note}" for note in notes)


def _order_models(rows: Sequence[Row]) -> list[str]:
    used = {row["contact_model"] for row in rows}
    return [model for model in contact_models() if model in used]


def _find_points(rows: list[Row], step: float, quantity: _Quantity) -> list[Point]:
    """Returns cost [ms] and value of the runs with a time step that have both."""
    points = []
    for row in rows:
        value = quantity.find(row)
        if row["time_step"] == step and value is not None and row["cpu_time"]:
            points.append((1e3 * row["cpu_time"] / row["simulated_time"], value))
    return points


def _find_middle(points: list[Point]) -> Point:
    """Returns the median, in logarithms, because values may differ by decades."""
    x, y = (math.exp(median(map(math.log, values))) for values in zip(*points, strict=True))
    return x, y


def _make_log_log(axes: Axes) -> None:
    """Makes both axes logarithmic, with some room around the points, even around a single one."""
    x = [x for line in axes.lines for x in np.asarray(line.get_xdata(), float)]
    y = [y for line in axes.lines for y in np.asarray(line.get_ydata(), float)]
    axes.set_xlim(min(x, default=1) / 1.3, max(x, default=1) * 1.3)
    axes.set_ylim(min(y, default=1) / 2, max(y, default=1) * 2)
    axes.set_xscale("log")
    axes.set_yscale("log")


def _label_cost(axes: Axes) -> None:
    """Labels the axis of cost, and marks real time if that is in sight."""
    low, high = axes.get_xlim()
    is_wide = high > 300 * low
    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if is_wide else (1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("CPU time for a simulated second [ms]")
    if low < 1000 < high:
        axes.axvline(1000, color="0.5", lw=1, ls=(0, (4, 3)), zorder=1)
        axes.annotate(
            "real time", (1000, 1), xycoords=("data", "axes fraction"), xytext=(-3, -2),
            textcoords="offset points", rotation=90, ha="right", va="top", fontsize=8, color="0.4",
        )  # fmt: skip
