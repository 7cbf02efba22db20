"""The picture of the scorecard: the error of each engine on each scene, as colors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from stiction.evidence.scorecard.engine_table import ENGINES
from stiction.evidence.scorecard.results import ROUND_OFF, Cell
from stiction.evidence.scorecard.scene_table import SCENES

# Upper ends of the classes of errors, with their colors from right to wrong. They differ in
# lightness too.
_CLASSES = (
    (1e-4, "#1a7f4b"),
    (1e-2, "#7cc38a"),
    (1e-1, "#f4e19c"),
    (1.0, "#ee9a5b"),
    (math.inf, "#c8413b"),
)
_NO_RESULT = "#5b1a1a"
_LABELS = ("below 0.01 %", "below 1 %", "below 10 %", "below 100 %", "above", "no result")


def draw_scorecard(cells: dict[tuple[str, str], Cell]) -> Figure:
    """Draws the errors at the smallest time steps."""
    engines = [name for name in ENGINES if any(engine == name for _, engine in cells)]
    scenes = [name for name in SCENES if any(scene == name for scene, _ in cells)]
    with matplotlib.rc_context({"font.family": "sans-serif", "font.size": 9}):
        size = (2.6 + 0.62 * len(scenes), 2.0 + 0.3 * len(engines))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        classes = np.full((len(engines), len(scenes)), np.nan)
        for (scene, engine), cell in cells.items():
            if engine in engines and scene in scenes:
                where = engines.index(engine), scenes.index(scene)
                classes[where] = _find_class(cell.finest.error)
                _write(axes, where, cell.finest.error)
        colors = [*(color for _, color in _CLASSES), _NO_RESULT]
        image = np.ma.masked_invalid(classes)
        axes.imshow(image, ListedColormap(colors), vmin=0, vmax=len(colors) - 1, aspect="auto")
        _label(axes, engines, scenes)
        handles = [matplotlib.patches.Patch(color=color) for color in colors]
        figure.legend(
            handles, _LABELS, loc="outside lower center", ncols=len(colors), frameon=False
        )
        return figure


def _find_class(error: float) -> int:
    if not error < math.inf:
        return len(_CLASSES)
    return next(i for i, (end, _) in enumerate(_CLASSES) if error <= end)


def _write(axes: Axes, where: tuple[int, int], error: float) -> None:
    """Writes an error into its field."""
    kind = _find_class(error)
    is_dark = kind in (0, len(_CLASSES) - 1, len(_CLASSES))
    axes.text(
        where[1], where[0], format_error(error), ha="center", va="center", fontsize=7,
        color="white" if is_dark else "black",
    )  # fmt: skip


def format_error(error: float) -> str:
    """Formats a relative error as percent with two digits, up to 1000; 0 for round-off."""
    if not error < math.inf:
        return "-"
    percent = 100 * error
    if percent >= 1000:
        return "> 1000 %"
    if percent >= 10:
        return f"{percent:.0f} %"
    if percent >= 0.01:
        return f"{percent:.2g} %"
    return "0" if error <= ROUND_OFF else f"{percent:.0e} %".replace("e-0", "e-")


def _label(axes: Axes, engines: Sequence[str], scenes: Sequence[str]) -> None:
    axes.set_xticks(
        range(len(scenes)), [s.replace("_", " ") for s in scenes], rotation=40, ha="right"
    )
    axes.set_yticks(range(len(engines)), engines)
    axes.set_xticks(np.arange(len(scenes) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(engines) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1)
    axes.tick_params(which="both", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    # Lines between families of engines.
    for i, (above, below) in enumerate(pairwise(engines)):
        if ENGINES[above].family != ENGINES[below].family:
            axes.axhline(i + 0.5, color="black", lw=1)
