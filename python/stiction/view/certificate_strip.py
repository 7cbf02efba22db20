"""A strip over time: green where all certificates hold, red where a step or its certificate failed."""

from __future__ import annotations

from collections.abc import Sequence

from stiction.view.frame import Frame
from stiction.view.session import Session

_GOOD, _BAD = "#2ca02c", "#d62728"
_MAX_MARKS = 200


def find_bad_frames(sessions: Sequence[Session]) -> list[Frame]:
    """Returns the frames of all sessions that failed, in order of time."""
    bad = [frame for session in sessions for frame in session.frames if not frame.is_good]
    bad.sort(key=lambda frame: frame.time)
    return bad


def thin_out(times: Sequence[float]) -> list[float]:
    """Returns at most a few hundred of some times [s], which marks can show."""
    return list(times[:: max(1, -(-len(times) // _MAX_MARKS))])


def count_steps(runs: Sequence[Sequence[Frame]]) -> int:
    """Returns the number of steps in all runs, without their initial states."""
    return sum(frame.index > 0 for frames in runs for frame in frames)


def make_strip(
    times: Sequence[float],
    start: float,
    end: float,
    num_steps: int,
    jumps: Sequence[float] = (),
) -> str:
    """Returns the strip as HTML.

    Args:
        times: times of all steps that failed [s]. The strip counts them, and marks a few hundred.
        start, end: times at both ends of the strip [s].
        num_steps: number of steps of all sessions.
        jumps: for a page with a script of its own, the time of its replay for each of the times [s].
    """
    span = max(end - start, 1e-12)
    shown = thin_out(times)
    targets = [f" data-jump='{jump:.9f}'" for jump in thin_out(jumps)]
    marks = "".join(
        f"<div class='stiction-bad'{target} title='failed at {time:.4g} s' style='position:absolute;"
        f"top:0;height:10px;width:3px;cursor:{'pointer' if target else 'default'};"
        f"background:{_BAD};left:calc({(time - start) / span:.4f} * (100% - 3px))'></div>"
        for time, target in zip(shown, targets or [""] * len(shown), strict=True)
    )
    words = f"{len(times)} failed" if times else "all good"
    if times and targets:
        words += " (click a mark to go there)"
    return (
        "<div style='padding:2px 14px;font:12px sans-serif'>"
        f"certificates of {num_steps} steps: {words}"
        "<div class='stiction-strip' style='position:relative;height:10px;margin-top:3px;"
        f"border-radius:2px;overflow:hidden;background:{_GOOD}'>{marks}</div></div>"
    )
