"""Controls of the page: what is shown, the cut, the contact models and parameters, and the clock."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import mujoco

from stiction._core import contact_models
from stiction.errors import Error
from stiction.setup.options import OPTIONS, Option
from stiction.view.certificate_strip import count_steps, find_bad_frames, make_strip, thin_out
from stiction.view.legend import PressureScale
from stiction.view.palette import Style
from stiction.view.runner import Runner
from stiction.view.simulation import Simulation

_PATCH_PARTS = (("patches", "Patches"), ("traction", "Traction"), ("slip", "Slip"))
_POINT_PARTS = (("points", "Contact points"), ("forces", "Point forces"))
_NO_CUT = "none"
# Options that the page chooses itself, and those that change nothing that one could see.
_HIDDEN = ("contact_model", "on_failure", "trace", "num_threads", "max_memory_gb")
_NO_VALUE = "None"
_SPEEDS = {"1/20": 0.05, "1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "max": math.inf}

# Shares of the time line: a click moves by more than the first, and is near a mark within the second.
_JUMP, _REACH = 0.02, 0.015


def on_user(register: Callable[..., Any], act: Callable[[Any], None]) -> None:
    """Registers what a user's input does. A value that the program itself shows has no effect."""

    def obey(event: Any) -> None:
        if event.client_id is not None:
            act(event)

    register(obey)


class DisplayPanel:
    """The choice of what is shown, which changes the style and redraws."""

    def __init__(
        self,
        server: Any,
        style: Style,
        scale: PressureScale,
        has_patches: bool,
        redraw: Callable[[], None],
    ) -> None:
        self._style, self._scale, self._redraw = style, scale, redraw
        gui = server.gui
        for part, label in (*(_PATCH_PARTS if has_patches else ()), *_POINT_PARTS):
            box = gui.add_checkbox(label, initial_value=getattr(style, part))
            self._connect(box, part)
        if not has_patches:
            return
        opacity = gui.add_slider(
            "Opacity", min=0.0, max=1.0, step=0.05, initial_value=style.opacity,
            hint="Of geoms with pressure fields. A contact patch lies inside them.",
        )  # fmt: skip
        self._connect(opacity, "opacity")
        top = gui.add_text(
            "Scale [Pa]",
            initial_value="auto" if scale.fixed is None else f"{scale.fixed:g}",
            hint="Pressure of the last color: a number, or auto.",
        )
        on_user(top.on_update, lambda event: self._set_scale(event.target.value))

    def _connect(self, handle: Any, part: str) -> None:
        def change(event: Any) -> None:
            setattr(self._style, part, event.target.value)
            self._redraw()

        on_user(handle.on_update, change)

    def _set_scale(self, text: str) -> None:
        try:
            value = float(text)
        except ValueError:
            value = 0.0  # automatic, also while a number is being typed
        self._scale.fixed = value if 0 < value < float("inf") else None
        self._scale.forget()
        self._redraw()


class CutPanel:
    """The choice of the cut through one of the geoms, which changes the style and redraws."""

    def __init__(
        self,
        server: Any,
        style: Style,
        model: mujoco.MjModel,
        geoms: Iterable[int],
        redraw: Callable[[], None],
    ) -> None:
        ids = {model.geom(geom).name or f"#{geom}": geom for geom in geoms}
        gui = server.gui
        geom = gui.add_dropdown("Geom", (_NO_CUT, *ids), initial_value=_NO_CUT)
        axis = gui.add_dropdown("Normal", ("x", "y", "z"), initial_value="x")
        place = gui.add_slider("Place", min=-1.0, max=1.0, step=0.02, initial_value=0.0)

        def change(_: Any) -> None:
            style.cut_geom = ids.get(geom.value)
            style.cut_axis = "xyz".index(axis.value)
            style.cut_place = place.value
            redraw()

        for handle in (geom, axis, place):
            on_user(handle.on_update, change)


class ModelPanel:
    """The contact models and the parameters, made in the current container of the page."""

    def __init__(self, server: Any, runner: Runner, simulations: Sequence[Simulation]) -> None:
        self._runner = runner
        self._simulations = simulations
        gui = server.gui
        for i, simulation in enumerate(simulations):
            label = f"Model {i + 1}" if len(simulations) > 1 else "Contact model"
            choice = gui.add_dropdown(
                label, tuple(contact_models()), initial_value=simulation.contact_model
            )
            on_user(choice.on_update, partial(self._choose, simulation))
        with gui.add_folder("Parameters", expand_by_default=False):
            options = simulations[0].simulator.options
            self._fields = {
                option.name: _add_field(gui, option, options.get(option.name))
                for option in OPTIONS.values()
                if option.name not in _HIDDEN and not isinstance(options.get(option.name), dict)
            }
            self._shown = {name: field.value for name, field in self._fields.items()}
            apply = gui.add_button("Apply", hint="Continues with these parameters.")
            on_user(apply.on_click, lambda _: self._runner.submit(self._apply))

    def _choose(self, simulation: Simulation, event: Any) -> None:
        self._runner.submit(partial(simulation.change, event.target.value))

    def _apply(self) -> None:
        """Gives the parameters that were edited to all simulations, or raises Error."""
        edited = {
            name: field.value
            for name, field in self._fields.items()
            if field.value != self._shown[name]
        }
        values = {name: _parse(OPTIONS[name], value) for name, value in edited.items()}
        for simulation in self._simulations:
            simulation.change(**values)
        self._shown |= edited


def _add_field(gui: Any, option: Option, value: Any) -> Any:
    """Adds the input of an option."""
    label, hint = option.name, f"{option.help} {option.describe_values()}"
    if option.unit:
        label += f" [{option.unit}]"
    if option.kind == "flag":
        return gui.add_checkbox(label, initial_value=bool(value), hint=hint)
    if option.kind == "choice":
        return gui.add_dropdown(label, tuple(option.choices), initial_value=value, hint=hint)
    text = (
        _NO_VALUE
        if value is None
        else repr(float(value))
        if option.kind == "number"
        else str(value)
    )
    return gui.add_text(label, initial_value=text, hint=hint)


def _parse(option: Option, value: Any) -> Any:
    """Returns the value of an input, or raises Error."""
    if option.kind in ("flag", "choice"):
        return value
    text = str(value).strip()
    if option.is_optional and text in (_NO_VALUE, ""):
        return None
    try:
        return float(text) if option.kind == "number" else int(text)
    except ValueError as e:
        raise Error(
            "invalid_value", option.name, f"'{text}' is not a number; it must be {option.range}"
        ) from e


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
