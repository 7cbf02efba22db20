"""Controls that a scene file declares: a sequence of keyframes.

    <custom><text name="stiction_controls" data="open closed lifted"/></custom>
    <keyframe>
      <key name="open" time="0" ctrl="0 0"/>
      <key name="closed" time="0.5" ctrl="0 0.04"/> ...

The controls equal each keyframe's controls at its time and are linear in between. They are constant
before the first keyframe and after the last. The keyframes' positions and velocities are not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.inputs.custom_text import CONTROLS, find_text
from stiction.inputs.names import suggest_name


@dataclass(frozen=True)
class ControlSchedule:
    """Sets data.ctrl as a function of data.time when it is called with a data.

    Attributes:
        times: times of the n keyframes, ascending [s], (n,).
        controls: controls at these times, (n, nu).
    """

    times: NDArray[np.float64]
    controls: NDArray[np.float64]

    def __call__(self, data: mujoco.MjData) -> None:
        last = len(self.times) - 1
        i = int(np.searchsorted(self.times, data.time, side="right")) - 1
        if i < 0 or i >= last:
            data.ctrl[:] = self.controls[0 if i < 0 else last]
            return
        share = (data.time - self.times[i]) / (self.times[i + 1] - self.times[i])
        data.ctrl[:] = self.controls[i] + share * (self.controls[i + 1] - self.controls[i])

    @property
    def end(self) -> float:
        """Time of the last keyframe [s]."""
        return float(self.times[-1])

    @property
    def hold_start(self) -> float:
        """Time after which the controls are constant [s]."""
        changes = np.flatnonzero((self.controls[1:] != self.controls[:-1]).any(axis=1))
        return float(self.times[changes[-1] + 1 if len(changes) else 0])


def find_control_schedule(model: mujoco.MjModel, path: Path) -> ControlSchedule | None:
    """Returns the schedule that a scene declares, or None. Error: the scene's schedule is invalid."""
    text = find_text(model, path, CONTROLS)
    if text is None:
        return None
    where = f"{path}: <text name='{CONTROLS}'>"
    names = text.split()
    if not names:
        raise Error("invalid_value", where, "is empty; list the names of keyframes")
    keys = [_find_key(model, name, where) for name in names]
    times = model.key_time[keys].copy()
    controls = model.key_ctrl[keys].copy()
    for name, time, ctrl in zip(names, times, controls, strict=True):
        if not (np.isfinite(time) and np.isfinite(ctrl).all()):
            raise Error(
                "invalid_value",
                f"{path}: <key name='{name}'>",
                f"has time {time} and ctrl {ctrl.tolist()}; give finite numbers",
            )
    for i in range(1, len(times)):
        if times[i] <= times[i - 1]:
            raise Error(
                "invalid_value",
                f"{path}: <key name='{names[i]}'>",
                f"has time {times[i]:g} s, which is not after '{names[i - 1]}' at "
                f"{times[i - 1]:g} s; order the keyframes by time",
            )
    return ControlSchedule(times, controls)


def _find_key(model: mujoco.MjModel, name: str, where: str) -> int:
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, name)
    if key < 0:
        known = [model.key(i).name for i in range(model.nkey)]
        raise Error(
            "unknown_name", where, f"there is no keyframe '{name}' {suggest_name(name, known)}"
        )
    return int(key)
