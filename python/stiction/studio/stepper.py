"""Steps the model of Studio with Stiction."""

from __future__ import annotations

import math
import time
import warnings
from pathlib import Path
from typing import Any

import mujoco
from mujoco.studio import messages, plugin, sim

from stiction._core import StepReport, contact_models
from stiction.errors import Error
from stiction.inputs.arguments import check_name
from stiction.setup.properties import PropertiesLike, load_scene_properties
from stiction.simulator import Simulator
from stiction.studio.snapshots import SettingsSnapshot, make_empty_snapshot, make_snapshot

_BUDGET = 1 / 60  # wall time of the steps of one StepEvent [s]
_MAX_LAG = 0.1  # wall time after which the pace begins anew [s]


class StictionStepper(plugin.SimPlugin):  # type: ignore[misc]
    """Steps the model of Studio with Stiction.

    Args:
        contact_model: name of the contact model.
        properties: contact properties; None means those that the scene names.
        starts_at_keyframe: True: a new model starts at its first keyframe, as in Stiction's commands.
        **options: other options of Simulator.

    Raises:
        Error: there is no such contact model.
    """

    def __init__(
        self,
        contact_model: str = "coulomb",
        properties: PropertiesLike = None,
        *,
        starts_at_keyframe: bool = False,
        **options: Any,
    ) -> None:
        self._contact_model = check_name("contact_model", contact_model, tuple(contact_models()))
        self._given, self._options = properties, options
        self._starts_at_keyframe = starts_at_keyframe
        self._properties: PropertiesLike = None
        self._simulator: Simulator | None = None
        self._refused = ""  # why a setting was refused
        self._fault = ""  # why the last step failed
        self._is_paused, self._single_steps, self._speed = False, 0, 1.0
        self._anchor = (0.0, 0.0)  # a wall time and the simulated time that belongs to it [s]
        self._shown_time = float("nan")  # of the state whose contacts are shown [s]

    @messages.handler  # type: ignore[untyped-decorator]
    def on_post_model(self, event: messages.PostModelEvent) -> None:
        """Makes the simulator of a new model, with the properties that its file names."""
        self._simulator, self._fault = None, ""
        if self._starts_at_keyframe and event.model.nkey:
            mujoco.mj_resetDataKeyframe(event.model, event.data, 0)
        try:
            self._properties = self._given
            if self._given is None and event.path:
                self._properties = load_scene_properties(event.model, Path(event.path), None)
            self._make_simulator(event.model, self._contact_model, self._options)
        except Error as e:
            self._refused = str(e)
        self._shown_time = float("nan")
        self._set_pace(event.data)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_settings(self, event: SettingsSnapshot) -> None:
        """Changes contact model and parameters. If they are refused, the old ones stay."""
        if self._handle is None or self.handle.model is None:
            return
        try:
            self._make_simulator(
                self.handle.model, event.contact_model, {**self._options, **event.options}
            )
        except Error as e:
            self._refused = str(e)
        self._shown_time = float("nan")

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step_control(self, event: messages.StepControlSnapshot) -> None:
        """Follows pause and speed of Studio's panel, whose StepControl keeps them too."""
        self._is_paused = event.pause_state != sim.PauseState.UNPAUSED
        self._speed = event.speed / 100
        self._anchor = (0.0, float("nan"))

    @messages.handler  # type: ignore[untyped-decorator]
    def on_pause(self, event: messages.RequestPauseEvent) -> None:
        """Follows requests of other plugins to pause or to go on."""
        self._is_paused = event.pause_state != sim.PauseState.UNPAUSED
        self._anchor = (0.0, float("nan"))

    @messages.handler  # type: ignore[untyped-decorator]
    def on_single_step(self, _: messages.SingleStepEvent) -> None:
        """Takes one step at the next StepEvent."""
        self._single_steps += 1

    @messages.handler(priority=messages.Priority.USER)  # type: ignore[untyped-decorator]
    def on_step(self, event: messages.StepEvent) -> bool:
        """Steps at the pace of the panel. Returns True, so that StepControl does not step as well."""
        if self._simulator is None:
            if event.data.time != self._shown_time:  # the panel says why nothing moves
                self._shown_time = float(event.data.time)
                self.handle.send_to_viewer(make_empty_snapshot(self._contact_model, self._refused))
            time.sleep(0.001)
            return True
        report = None
        if not self._is_paused:
            report = self._advance(event.data)
        elif self._single_steps:
            report = self._step(event.data)
        self._single_steps = 0
        if report is None and event.data.time != self._shown_time:
            if not math.isnan(self._shown_time):
                self._fault = ""  # the state was reset, edited or scrubbed
            report = self._look(event.data)
        if report is not None:
            self._shown_time = float(event.data.time)
            self.handle.send_to_viewer(make_snapshot(report, self._simulator, self._describe()))
        time.sleep(0.001)  # leaves time to the viewer's thread, as StepControl does
        return True

    def _make_simulator(
        self, model: mujoco.MjModel, contact_model: str, options: dict[str, Any]
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of settings that this model does not read
            self._simulator = Simulator(
                model, contact_model, properties=self._properties, on_failure="stop", **options
            )
        self._contact_model, self._options, self._refused = contact_model, options, ""

    def _describe(self) -> str:
        return "; ".join(filter(None, (self._refused, self._fault)))

    def _set_pace(self, data: mujoco.MjData) -> None:
        self._anchor = time.perf_counter(), float(data.time)

    def _advance(self, data: mujoco.MjData) -> StepReport | None:
        """Steps until the simulated time has caught up, or the budget is spent."""
        now = time.perf_counter()
        due = self._anchor[1] + self._speed * (now - self._anchor[0])
        # After a pause, a reset or a slow scene the pace begins anew.
        if not -_MAX_LAG <= (due - data.time) / max(self._speed, 1e-3) <= _MAX_LAG:
            self._set_pace(data)
            due = float(data.time) + 1e-9
        report = None
        while data.time < due and time.perf_counter() - now < _BUDGET and not self._is_paused:
            report = self._step(data)
        return report

    def _step(self, data: mujoco.MjData) -> StepReport:
        """Takes one step. A failed step pauses Studio, and the panel has the reason."""
        assert self._simulator is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = self._simulator.step(data)
        self._fault = ""
        if report.status_bits:
            self._fault = f"the step failed ({report.status}): {report.message}"
            self._is_paused = True
            self.handle.send_to_viewer(
                messages.RequestPauseEvent(pause_state=sim.PauseState.NORMAL_PAUSED)
            )
        return report

    def _look(self, data: mujoco.MjData) -> StepReport:
        """Computes the contacts of a state without a step."""
        assert self._simulator is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._simulator.forward(data)
