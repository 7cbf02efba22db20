"""Live plots of the page: error bound, iterations, creep and energy of all scenes over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stiction.tables.colors import find_color
from stiction.view.series import QUANTITIES, Quantity, make_series, take_affordable, thin_out
from stiction.view.session import Session

# Colors of sessions whose contact models have the same color or none.
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")


class Plots:
    """The plots in the page; not complete if the next update can show more points of the same frames."""

    def __init__(self, server: Any, sessions: Sequence[Session]) -> None:
        self._server = server
        self._sessions = sessions
        self.is_complete = True
        self._names = [session.name for session in sessions]
        self._plots = [self._add(quantity) for quantity in QUANTITIES]

    def update(self) -> None:
        """Shows the frames that are known now."""
        chosen = [thin_out(session.frames) for session in self._sessions]
        frames = [take_affordable(run) for run in chosen]
        self.is_complete = sum(map(len, frames)) == sum(map(len, chosen))
        names = [session.name for session in self._sessions]
        for quantity, plot in zip(QUANTITIES, self._plots, strict=True):
            plot.data = make_series(frames, quantity)
            if names != self._names:
                plot.series = self._make_series_options()
        self._names = names

    def _add(self, quantity: Quantity) -> Any:
        empty = np.zeros(1)
        return self._server.gui.add_uplot(
            data=(empty, *(empty for _ in self._sessions)),
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
                }
                for name, color in zip(names, colors, strict=True)
            ),
        )


def choose_colors(names: Sequence[str]) -> list[str]:
    """Returns the color of each contact model, or colors of a list if two were the same."""
    colors = [find_color(name) for name in names]
    return colors if len(set(colors)) == len(colors) else list(_COLORS[: len(names)])
