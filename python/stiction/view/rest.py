"""How long the viewer rests after a frame, so that a slow browser does not slow the simulation."""

from __future__ import annotations

_SLOW = 0.15  # a browser that takes longer than this for a frame is slow [s]
# Frames for a slow browser may take this share of the time of a simulation that has none to spare;
# viser's own threads take as much again.
_SHARE = 0.008
_LONGEST = 3.0  # [s]


def calc_rest(delay: float, cost: float) -> float:
    """Returns the time for which to rest after a frame was sent [s].

    Args:
        delay: time that the browser took for the frame [s].
        cost: processor time of the frame [s].
    """
    return min(cost / _SHARE, _LONGEST) if delay > _SLOW else 0.0
