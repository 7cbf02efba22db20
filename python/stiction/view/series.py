"""The figures of a run over time, for plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stiction.view.frame import Frame

_MAX_POINTS = 200
_MAX_NEW = 20  # frames whose figures are computed at a time


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
