"""Repeats the steps of a recording and finds differences between the results."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from stiction._core import StepReport, contact_model_traits
from stiction.errors import Error
from stiction.recording import format as fmt
from stiction.recording.recording import Recording
from stiction.recording.records import make_arguments
from stiction.recording.step import Step
from stiction.recording.writer import describe_environment


@dataclass
class Difference:
    """The difference between a replayed step and the recorded one.

    Attributes:
        step: index of the step.
        time: time of the recorded state [s].
        field: component and index of the first entry that differs, such as 'qpos[2]'; or 'status';
            or 'digest' if the recorded state does not have its recorded hash.
        element: element of the model that the entry belongs to, such as "joint 'lift'"; may be
            empty.
        recorded, replayed: values of that entry.
        num_entries: number of entries that differ.
        max_difference: largest difference of these entries.
    """

    step: int
    time: float
    field: str
    element: str
    recorded: float | str
    replayed: float | str
    num_entries: int = 1
    max_difference: float = 0.0

    def __str__(self) -> str:
        element = f" ({self.element})" if self.element else ""
        where = f"step {self.step} (t = {self.time:.6g} s)"
        if self.field == "digest":
            return (
                f"{where}: the recorded state was altered or damaged; its hash is {self.replayed}, "
                f"but {self.recorded} was recorded"
            )
        text = (
            f"{where} differs: {self.field}{element} is {self.replayed!r}, but {self.recorded!r} "
            "was recorded"
        )
        if self.field == "status":
            return text
        return f"{text}; {self.num_entries} entries differ by up to {self.max_difference:.3g}"


@dataclass
class ReplayedStep:
    """A replayed step.

    Attributes:
        recording: the recording.
        recorded: the recorded step.
        report: report of the replayed step.
        state: components of mjSTATE_INTEGRATION after the replayed step, (size,).
    """

    recording: Recording
    recorded: Step
    report: StepReport
    state: fmt.Vector

    def find_difference(self) -> Difference | None:
        """Compares the steps bit for bit. Returns the first difference, or None if they are equal."""
        step = self.recorded
        if not step.is_intact:
            actual = fmt.hash_bytes(step.state.tobytes()).hex()
            return Difference(step.index, step.time, "digest", "", step.digest.hex(), actual)
        # Compare as integers, so that -0.0 differs from 0.0 and a NaN equals itself.
        wrong = np.flatnonzero(step.state.view(np.uint64) != self.state.view(np.uint64))
        if len(wrong):
            return self._describe_entries(wrong)
        return self.find_status_difference()

    def find_status_difference(self) -> Difference | None:
        """Compares only the statuses of the steps. Returns None if they are equal."""
        step = self.recorded
        status = str(step.report.get("status", ""))
        if status == self.report.status and step.completed == (self.report.num_steps > 0):
            return None
        return Difference(step.index, step.time, "status", "", status, self.report.status)

    def _describe_entries(self, wrong: np.ndarray) -> Difference:
        step, first = self.recorded, int(wrong[0])
        layout = self.recording.layout
        name = next(name for name, part in layout.items() if part.start <= first < part.stop)
        entry = first - layout[name].start
        return Difference(
            step.index,
            step.time,
            f"{name}[{entry}]",
            describe_entry(self.recording.model, name, entry),
            float(step.state[first]),
            float(self.state[first]),
            len(wrong),
            float(np.max(np.abs(step.state[wrong] - self.state[wrong]))),
        )


class Replay:
    """Repeats the steps of a recording with its inputs. Iteration yields the steps.

    Each step starts from the previous replayed state, not from the recorded state.

        for replayed in Replay(recording):
            assert replayed.find_difference() is None

    Args:
        recording: the recording.
        from_step: start from the recorded state after this many steps.
        **options: arguments of Simulator that replace the recorded ones.

    Raises:
        Error: the scene cannot be loaded, or the recording has fewer steps than from_step.
    """

    def __init__(self, recording: Recording, *, from_step: int = 0, **options: Any) -> None:
        if recording.options.get("on_failure") == "raise":
            options.setdefault("on_failure", "stop")
        self.recording = recording
        self.simulator = recording.make_simulator(**options)
        self._from_step = from_step
        self._data = mujoco.MjData(self.simulator.model)
        if from_step > 0:
            self._check_sleep()
            self._set_state(recording.state_at(from_step), fmt.INTEGRATION)

    def __iter__(self) -> Iterator[ReplayedStep]:
        """Makes the steps in order."""
        model = self.simulator.model
        inputs = np.zeros(mujoco.mj_stateSize(model, fmt.USER))
        for step in self.recording.all_steps():
            if step.index <= self._from_step:
                continue
            if step.start is not None:
                self._set_state(step.start, fmt.INTEGRATION)
            if step.memory and (step.start is not None or step.index == self._from_step + 1):
                # Another contact model or integrator has no use for the recorded memory.
                with contextlib.suppress(Error):
                    self.simulator.set_state(step.memory)
            mujoco.mj_extractState(model, step.state, fmt.INTEGRATION, inputs, fmt.USER)
            self._set_state(inputs, fmt.USER)
            if step.advance is None:
                report = self.simulator.step(self._data)
            else:
                report = self.simulator.advance(self._data, **make_arguments(step.advance))
            state = fmt.get_state(model, self._data)
            yield ReplayedStep(self.recording, step, report, state)

    def _check_sleep(self) -> None:
        """Raises Error if trees may sleep, since mjSTATE_INTEGRATION does not tell which do."""
        sleeps = self.simulator.model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP
        if sleeps and contact_model_traits(self.simulator.contact_model).is_mj_step:
            raise Error(
                "unsupported",
                str(self.recording.path),
                "the recorded state does not tell which bodies sleep; replay from step 0",
            )

    def _set_state(self, state: fmt.Vector, components: int) -> None:
        mujoco.mj_setState(self.simulator.model, self._data, state, components)


def find_differences(recorded: dict[str, str]) -> list[str]:
    """Describes each difference between a recording's environment and this one."""
    here = describe_environment()
    return [
        f"recorded with {name.replace('_', ' ')} {recorded.get(name, 'unknown')}, but this is "
        f"{here[name]}; the last bits may differ"
        for name in here
        if recorded.get(name) != here[name]
    ]


def describe_entry(model: mujoco.MjModel, component: str, index: int) -> str:
    """Describes the element of an entry of a state, as "joint 'lift'", an index or an empty text."""
    obj = mujoco.mjtObj
    match component:
        case "qpos":
            joint = int(np.searchsorted(model.jnt_qposadr, index, side="right")) - 1
            return _describe(model, obj.mjOBJ_JOINT, joint)
        case "qvel" | "warmstart" | "qfrc_applied":
            return _describe(model, obj.mjOBJ_JOINT, int(model.dof_jntid[index]))
        case "act":
            return _describe_owner(model, obj.mjOBJ_ACTUATOR, model.actuator_actadr, index)
        case "ctrl":
            return _describe_owner(model, obj.mjOBJ_ACTUATOR, model.actuator_ctrladr, index)
        case "xfrc_applied":
            return _describe(model, obj.mjOBJ_BODY, index // 6)
        case "mocap_pos" | "mocap_quat":
            mocap = index // (3 if component == "mocap_pos" else 4)
            body = int(np.flatnonzero(model.body_mocapid == mocap)[0])
            return _describe(model, obj.mjOBJ_BODY, body)
        case "eq_active":
            return _describe(model, obj.mjOBJ_EQUALITY, index)
    return ""


def _describe_owner(model: mujoco.MjModel, kind: mujoco.mjtObj, address: np.ndarray, i: int) -> str:
    """Describes the element that owns entry i; address has the first entry of each, or -1."""
    owner = int(np.argmax(np.where(address <= i, address, -1)))
    return _describe(model, kind, owner)


def _describe(model: mujoco.MjModel, kind: mujoco.mjtObj, index: int) -> str:
    label = kind.name.removeprefix("mjOBJ_").lower()
    name = mujoco.mj_id2name(model, kind, index)
    return f"{label} '{name}'" if name else f"{label} {index}"
