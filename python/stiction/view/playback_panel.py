"""The controls of the clock: play, step, speed, reset, the time line and the certificate strip."""

from __future__ import annotations

import html
import math
from typing import Any

from stiction.view.certificate_strip import count_steps, find_bad_frames, make_strip, thin_out
from stiction.view.gui_events import on_user
from stiction.view.runner import Runner

_SPEEDS = {"1/20": 0.05, "1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "max": math.inf}

# Shares of the time line: a click moves by more than the first, and is near a mark within the second.
_JUMP, _REACH = 0.02, 0.015


class PlaybackPanel:
    """The controls of the clock, made in the current container of the page."""

    def __init__(self, server: Any, runner: Runner) -> None:
        self._runner = runner
        gui = server.gui
        self._buttons = gui.add_button_group("Run", ("Play", "Pause", "Step", "Reset"))
        self._speeds = list_speeds(runner.speed)
        name = next(name for name, speed in self._speeds.items() if speed == runner.speed)
        self._speed = gui.add_dropdown("Speed", tuple(self._speeds), initial_value=name)
        self._strip = gui.add_html("")
        self._time = gui.add_slider(
            "Time [s]", min=0.0, max=1.0, step=1e-3, initial_value=0.0,
            hint="Drag to go to any step that is known, or click on the mark of a step that failed.",
        )  # fmt: skip
        self._state = gui.add_html("")
        self._connect()

    def update(self) -> None:
        """Shows the time that is reached."""
        frames = [session.frames for session in self._runner.sessions]
        start = min(each[0].time for each in frames)
        end = max(max(each[-1].time for each in frames), start + 1e-3)
        bad = find_bad_frames(self._runner.sessions)
        self._time.min, self._time.max = start, end
        self._time.value = min(max(self._runner.time, start), end)
        times = [frame.time for frame in bad]
        self._strip.content = make_strip(times, start, end, count_steps(frames))
        self._time._marks = _make_marks(thin_out(times))
        self._state.content = _describe(self._runner)

    def _connect(self) -> None:
        runner = self._runner
        actions = {
            "Play": runner.play, "Pause": runner.pause, "Step": runner.step, "Reset": runner.reset,
        }  # fmt: skip
        on_user(self._buttons.on_click, lambda event: actions[event.target.value]())
        on_user(self._time.on_update, lambda event: self._seek(event.target.value))
        on_user(self._speed.on_update, lambda event: self._set_speed(event.target.value))

    def _seek(self, moment: float) -> None:
        """Goes to a time. A click near a red mark goes to its step."""
        shown, span = self._runner.time, self._time.max - self._time.min
        is_click = abs(moment - shown) > _JUMP * span
        bad = find_bad_frames(self._runner.sessions)
        nearest = min(
            (frame.time for frame in bad), key=lambda time: abs(time - moment), default=None
        )
        if is_click and nearest is not None and abs(nearest - moment) < _REACH * span:
            moment = nearest
        self._runner.seek(moment)

    def _set_speed(self, name: str) -> None:
        self._runner.speed = self._speeds[name]


def list_speeds(speed: float) -> dict[str, float]:
    """Returns the speeds that one can choose, by name in rising order; the present one is among them."""
    known = speed in _SPEEDS.values()
    speeds = _SPEEDS if known else {**_SPEEDS, f"{speed:g}": speed}
    return dict(sorted(speeds.items(), key=lambda item: item[1]))


def _make_marks(times: list[float]) -> tuple[Any, ...] | None:
    """Returns a red mark for each time, which one can click."""
    from viser._messages import GuiSliderMark

    return tuple(GuiSliderMark(value=time, label="▲") for time in times) or None


def _describe(runner: Runner) -> str:
    """Returns the step that is shown, and what went wrong, as HTML."""
    lines = []
    for session in runner.sessions:
        frame = session.frame
        line = f"{session.name}: step {frame.index}, t = {frame.end[0]:.4g} s, {frame.status}"
        lines.append(f"<div class='stiction-state'>{html.escape(line)}</div>")
        if session.problem or frame.message:
            text = html.escape(session.problem or frame.message)
            lines.append(f"<div style='color:#d62728'>{text}</div>")
        for text in session.warnings.values():
            lines.append(f"<div style='color:#b45f06'>{html.escape(text)}</div>")
    if runner.problem:
        lines.append(f"<div style='color:#d62728'>{html.escape(runner.problem)}</div>")
    return f"<div style='padding:2px 14px;font:12px/1.5 sans-serif'>{''.join(lines)}</div>"
