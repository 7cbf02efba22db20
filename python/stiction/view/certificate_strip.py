"""A strip over time: green where all certificates hold, red where a step or its certificate failed.

It is gray if no step has a certificate, as under the contact model `mujoco`.
"""

from __future__ import annotations

from collections.abc import Sequence

from stiction.view.frame import Frame
from stiction.view.session import Session

_GOOD, _BAD, _UNKNOWN = "#2ca02c", "#d62728", "#9a9a9a"
_MAX_MARKS = 200


def find_bad_frames(sessions: Sequence[Session]) -> list[Frame]:
    """Returns the frames of all sessions that failed, in order of time."""
    bad = [frame for session in sessions for frame in session.frames if not frame.is_good]
    bad.sort(key=lambda frame: frame.time)
    return bad


def thin_out(times: Sequence[float]) -> list[float]:
    """Returns at most a few hundred of some times [s], which marks can show."""
    return list(times[:: max(1, -(-len(times) // _MAX_MARKS))])


def count_steps(runs: Sequence[Sequence[Frame]]) -> tuple[int, int]:
    """Returns the number of steps in all runs, and of those of them that have a certificate."""
    steps = [frame for frames in runs for frame in frames if frame.index > 0]
    return len(steps), sum(frame.is_certified for frame in steps)


def make_strip(
    times: Sequence[float],
    start: float,
    end: float,
    num_steps: tuple[int, int],
    jumps: Sequence[float] = (),
) -> str:
    """Returns the strip as HTML, with a few hundred of the `times` of failed steps [s].

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
    words = _describe(len(times), num_steps)
    if times and targets:
        words += " (click a mark to go there)"
    back = _GOOD if num_steps[1] or not num_steps[0] else _UNKNOWN
    return (
        f"<div style='padding:2px 14px;font:12px sans-serif'>{words}"
        "<div class='stiction-strip' style='position:relative;height:10px;margin-top:3px;"
        f"border-radius:2px;overflow:hidden;background:{back}'>{marks}</div></div>"
    )


def _describe(num_failed: int, num_steps: tuple[int, int]) -> str:
    total, certified = num_steps
    failed = f"{num_failed} failed" if num_failed else ""
    if total and not certified:
        return f"{total} steps of mj_step without certificates" + (f": {failed}" if failed else "")
    words = f"certificates of {certified} steps: {failed or 'all good'}"
    if total > certified:
        words += f"; {total - certified} steps of mj_step have none"
    return words
