"""Recorder: steps a simulator and records everything needed to repeat the run bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import mujoco
import numpy as np

from stiction._core import StepReport
from stiction.binding.interrupts import DeferredInterrupt
from stiction.errors import Error, StepError, StictionWarning, warn
from stiction.inputs.arguments import check_flag, check_integer, check_path, describe_type
from stiction.recording import format as fmt
from stiction.recording.pressure_fields import pack_pressure_fields
from stiction.recording.records import pack_advance
from stiction.recording.writer import RecordingWriter
from stiction.simulator import Simulator, keep_turn

if TYPE_CHECKING:
    from stiction.recording.foxglove import FoxgloveChannels


class Recorder:
    """Steps a Simulator, and records each step in an MCAP file.

        with stiction.Recorder("out.mcap", sim) as recorder:
            for _ in range(1000):
                data.ctrl[:] = policy(data)
                report = recorder.step(data)        # in place of sim.step(data)

    The file has everything that a step depends on: the compiled scene, the simulator's options, the
    inputs and the state. The state may be set by hand between steps, or come from another MjData, also
    of another thread: a recorder serves one thread at a time, and other threads wait.
    Values in the model must not change: close() warns if they did.

    Args:
        path: path of the file. An older recording there is overwritten, but no other file.
        simulator: the simulator to step.
        scene: the scene's file; its text is recorded for people to read.
        notes: texts to record, by name.
        foxglove: True to write poses, contact wrenches and patches also with the schemas of Foxglove and
            ROS 2, 60 times per second. It takes `pip install 'stiction[foxglove]'`.

    Raises:
        Error: the file cannot be written, or an argument has the wrong type.
    """

    def __init__(
        self,
        path: str | Path,
        simulator: Simulator,
        *,
        scene: str | Path | None = None,
        notes: dict[str, str] | None = None,
        foxglove: bool = False,
    ) -> None:
        self.path = check_path("path", path)
        _check_simulator_type(simulator)
        scene_path = check_path("scene", scene) if scene else None
        self.simulator = simulator
        self.num_steps = 0
        self._has_memory = len(simulator.get_state()) > fmt.MEMORY_HEAD
        self._has_anchors = simulator.options["friction_law"] == "elastic"
        self._elapsed = 0.0  # simulated time of all steps [s]
        self._end = {"status": "ok", "message": ""}
        self._foxglove: FoxgloveChannels | None = None
        if check_flag("foxglove", foxglove):
            from stiction.recording.foxglove import FoxgloveChannels  # it imports matplotlib

            self._foxglove = FoxgloveChannels(simulator.model)

        layout = fmt.make_layout(simulator.model)
        size = fmt.state_size(layout)
        self._before = np.zeros(size)
        self._after = np.full(size, np.nan)
        self._is_input = np.zeros(size, bool)
        self._memory = b""  # after the last step
        for name in fmt.input_names():
            self._is_input[layout[name]] = True

        model_bytes = fmt.save_model(simulator.model)
        self._model_digest = fmt.hash_bytes(model_bytes)
        metadata = {
            "scene": str(scene_path or ""),
            "options": json.dumps(simulator.options),
            "notes": json.dumps(notes or {}),
        }
        files = pack_pressure_fields(simulator.options.get("properties"))
        self._writer = RecordingWriter(
            self.path, model_bytes, layout, metadata, scene_path, files, self._has_anchors
        )

    def step(self, data: mujoco.MjData, nstep: int = 1) -> StepReport:
        """Advances data by nstep steps as Simulator.step does, and records each step.

        Returns:
            The report of the last step that was made.

        Raises:
            Error: data belongs to another model, nstep is below 1, or the file cannot be written.
            StepError: a step failed, with on_failure='raise'.
        """
        self._check_arguments(data, nstep)
        for _ in range(nstep):
            report = self._make_and_write(data, lambda: self.simulator.step(data))
            if report.num_steps == 0:
                break
        return report

    def advance(
        self,
        data: mujoco.MjData,
        until: float,
        accuracy: float = 1e-4,
        *,
        max_time_step: float | None = None,
        first_step: float | None = None,
        last_error: float | None = None,
        extrapolate: bool = True,
    ) -> StepReport:
        """Advances data as Simulator.advance does, and records the call as one step.

        Returns:
            The report of the call.

        Raises:
            Error: as Simulator.advance, or the file cannot be written.
            StepError: a step failed, with on_failure='raise'.
        """
        self._check_arguments(data, 1)

        def call() -> StepReport:
            return self.simulator.advance(
                data,
                until,
                accuracy,
                max_time_step=max_time_step,
                first_step=first_step,
                last_error=last_error,
                extrapolate=extrapolate,
            )

        return self._make_and_write(data, call, (max_time_step, extrapolate))

    def close(self) -> None:
        """Completes the file. Without this call, the last steps may be missing from the file."""
        if not self._writer.is_open:
            return
        changed = fmt.hash_bytes(fmt.save_model(self.simulator.model)) != self._model_digest
        with keep_turn(self.simulator, "Recorder"):
            num_steps, is_changed = str(self.num_steps), str(changed).lower()
            self._writer.close({**self._end, "num_steps": num_steps, "model_changed": is_changed})
        if changed:
            warn(
                StictionWarning(
                    f"{self.path}: values of the model changed during the recording, which has only the "
                    "values from its start; it will not replay bit for bit"
                )
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_arguments(self, data: mujoco.MjData, nstep: int) -> None:
        self.simulator.check_data(data)
        check_integer("nstep", nstep, 1)

    def _make_and_write(
        self,
        data: mujoco.MjData,
        call: Callable[[], StepReport],
        advance: tuple[float | None, bool] | None = None,
    ) -> StepReport:
        """Makes a step by `call`, and writes it; `advance` has the arguments of pack_advance, if any.

        Neither Ctrl-C nor another thread may come between a step and its record.
        """
        with DeferredInterrupt(), keep_turn(self.simulator, "Recorder"):
            return self._make_and_write_alone(data, call, advance)

    def _make_and_write_alone(
        self,
        data: mujoco.MjData,
        call: Callable[[], StepReport],
        advance: tuple[float | None, bool] | None,
    ) -> StepReport:
        model = self.simulator.model
        mujoco.mj_getState(model, data, self._before, fmt.INTEGRATION)
        memory = self.simulator.get_state(data) if self._has_memory else b""
        if not self._continues(memory):
            self._writer.write_start(self._time_ns(), self.num_steps + 1, self._before)
        if self._has_memory:
            self._writer.write_memory(self._time_ns(), self.num_steps + 1, memory)
        try:
            report = call()
        except StepError as e:
            self._write(e.report, data, advance)
            raise
        self._write(report, data, advance)
        return report

    def _continues(self, memory: bytes) -> bool:
        """True if the state and the simulator's memory are those after the last step.

        Inputs may differ. The memory differs if someone set it.
        """
        if memory != self._memory:
            return False
        same = self._before.view(np.uint64) == self._after.view(np.uint64)
        return bool(np.all(same | self._is_input))

    def _write(
        self, report: StepReport, data: mujoco.MjData, advance: tuple[float | None, bool] | None
    ) -> None:
        if self._has_memory:
            self._memory = self.simulator.get_state()
        if "interrupted" in report.status:  # nothing that a replay could repeat
            self._after[:] = self._before
            return
        if advance is not None:
            record = pack_advance(report, *advance)
            self._writer.write_advance(self._time_ns(), self.num_steps + 1, record)
        self._end = {"status": report.status, "message": report.message}
        if report.num_steps == 0:
            self._after[:] = self._before
            self._writer.write_failed_step(
                self._time_ns(), self.num_steps + 1, self._before, report
            )
            return
        # After a step, data has the poses of its start.
        if self._foxglove and self._foxglove.wants(self._time_ns()):
            self._writer.write_foxglove(self._foxglove, self._time_ns(), data, report)
        if self._has_anchors:
            anchors = self.simulator.list_anchors()
            self._writer.write_anchors(self._time_ns(), self.num_steps + 1, anchors)
        self.num_steps += 1
        self._elapsed += report.time_step
        mujoco.mj_getState(self.simulator.model, data, self._after, fmt.INTEGRATION)
        self._writer.write_step(self._time_ns(), self.num_steps, self._after, report)

    def _time_ns(self) -> int:
        """Returns the simulated time since the start of the recording [ns]. It never goes back."""
        return round(self._elapsed * 1e9)


def _check_simulator_type(simulator: Any) -> None:
    if not isinstance(simulator, Simulator):
        problem = f"is {describe_type(simulator)}, must be a stiction.Simulator"
        raise Error("wrong_shape", "simulator", problem)
