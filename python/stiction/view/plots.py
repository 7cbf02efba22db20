"""Live plots of the page: error bound, iterations, creep and energy of all scenes over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.tables.plots import find_color
from stiction.view.frame import Frame
from stiction.view.session import Session

_MAX_POINTS = 200
_MAX_NEW = 20  # frames whose figures are computed at a time
# The last row of each plot has its limits, and no entry in the legend.
_HIDE_LIMITS = "<style>.u-legend .u-series:last-child {display: none}</style>"
# Colors of sessions whose contact models have the same color or none.
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")


@dataclass(frozen=True)
class Quantity:
    """A figure of each step, which `find` returns of a frame, and its title with the unit."""

    title: str
    find: Callable[[Frame], float]
    is_logarithmic: bool = False


QUANTITIES = (
    Quantity("log₁₀ of the error bound [√J]", lambda frame: frame.error_bound, is_logarithmic=True),
    Quantity("iterations", lambda frame: frame.iterations),
    Quantity(
        "log₁₀ of creep where contacts stick [m/s]", lambda frame: frame.creep, is_logarithmic=True
    ),
    Quantity("energy [J]", lambda frame: frame.energy),
)


def thin_out(frames: Sequence[Frame]) -> list[Frame]:
    """Returns at most a few hundred of the frames.

    Frames are chosen by an index that is a multiple of a power of two, so that a growing run keeps
    its choice, and figures that were computed once are used again.
    """
    stride = 1
    while len(frames) > _MAX_POINTS * stride:
        stride *= 2
    return [frame for frame in frames if frame.index % stride == 0]


def take_affordable(frames: Sequence[Frame]) -> list[Frame]:
    """Returns frames with known figures, and a few others, whose figures then become known."""
    new = [frame for frame in frames if not frame.has_figures][-_MAX_NEW:]
    for frame in new:
        for quantity in QUANTITIES:
            quantity.find(frame)
    return [frame for frame in frames if frame.has_figures]


def make_series(
    runs: Sequence[Sequence[Frame]], quantity: Quantity
) -> tuple[NDArray[np.float64], ...]:
    """Returns the times of all runs, and for each run what is plotted there; NaN between its steps."""
    times = [np.array([frame.time for frame in frames]) for frames in runs]
    values = [np.array([quantity.find(frame) for frame in frames], float) for frames in runs]
    axis = np.unique(np.concatenate(times).round(9)) if times else np.zeros(0)
    out = [axis]
    for own, figures in zip(times, values, strict=True):
        if quantity.is_logarithmic:
            figures = np.log10(np.where(figures > 0, figures, np.nan))
        row = np.full(len(axis), np.nan)
        row[np.searchsorted(axis, own.round(9))] = figures
        out.append(row)
    return tuple(out)


def make_limits(rows: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Returns a row that has the lowest and the highest finite value of all rows in turn.

    uPlot finds the limits of an axis from it, because it finds none from a row that begins with NaN.
    The limits are 0 and 1 if no value is finite, and always differ in the labels of the axis.
    """
    values = np.concatenate(rows)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    level = max(abs(low), abs(high))
    # Labels have three decimals.
    missing = (min(1e-2 * level, 4e-3) or 1.0) - (high - low)
    out = np.full(len(rows[0]), low)
    out[1::2] = high + max(missing, 0.0)
    return out


class Plots:
    """The plots in the page; not complete if the next update can show more points of the same frames."""

    def __init__(self, server: Any, sessions: Sequence[Session]) -> None:
        self._server = server
        self._sessions = sessions
        self.is_complete = True
        self._names = [session.name for session in sessions]
        server.gui.add_html(_HIDE_LIMITS)
        self._plots = [self._add(quantity) for quantity in QUANTITIES]

    def update(self) -> None:
        """Shows the frames that are known now."""
        chosen = [thin_out(session.frames) for session in self._sessions]
        frames = [take_affordable(run) for run in chosen]
        self.is_complete = sum(map(len, frames)) == sum(map(len, chosen))
        names = [session.name for session in self._sessions]
        for quantity, plot in zip(QUANTITIES, self._plots, strict=True):
            times, *rows = make_series(frames, quantity)
            plot.data = (times, *rows, make_limits(rows))
            if names != self._names:
                plot.series = self._make_series_options()
        self._names = names

    def _add(self, quantity: Quantity) -> Any:
        empty = np.zeros(1)
        return self._server.gui.add_uplot(
            data=(empty, *(empty for _ in self._sessions), empty),
            series=self._make_series_options(),
            title=quantity.title,
            scales={"x": {"time": False, "auto": True}, "y": {"auto": True}},
            axes=({"size": 30}, {"size": 52}),
            legend={"show": len(self._sessions) > 1},
            height=170,
        )

    def _make_series_options(self) -> tuple[Any, ...]:
        colors = choose_colors([session.name for session in self._sessions])
        names = [session.name for session in self._sessions]
        return (
            {"label": "t [s]"},
            *(
                {
                    "label": name,
                    "stroke": color,
                    "width": 1.5,
                    "spanGaps": True,
                    "points": {"show": False},
                    "auto": False,
                }
                for name, color in zip(names, colors, strict=True)
            ),
            {"label": "limits", "stroke": "transparent", "points": {"show": False}},
        )


def choose_colors(names: Sequence[str]) -> list[str]:
    """Returns the color of each contact model, or colors of a list if two were the same."""
    colors = [find_color(name) for name in names]
    return colors if len(set(colors)) == len(colors) else list(_COLORS[: len(names)])
