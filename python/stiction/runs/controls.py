"""Controls for the actuators of a scene that runs without a controller of its own."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable

import mujoco
import numpy as np

from stiction.errors import Error
from stiction.inputs.custom_text import CONTROLS
from stiction.scene import Scene

# Sets data.ctrl before a step.
Controls = Callable[[mujoco.MjData], None]


class ControlsName(enum.StrEnum):
    """The names that make_controls accepts."""

    zero = "zero"
    random = "random"
    keyframe = "keyframe"
    schedule = "schedule"


# Time for which a random control stays constant [s]: many time steps, but short compared with the
# motions of a robot.
_HOLD_TIME = 0.1

_MAX_STEPS = 1e12  # about a year at 30 us a step


def make_controls(name: ControlsName, scene: Scene, seed: int = 0) -> Controls:
    """Makes the controls of a name, such as 'keyframe', for the scene's actuators, or raises Error."""
    model = scene.model
    if name == ControlsName.random:
        return RandomControls(model, seed)
    if name == ControlsName.zero:
        return _make_constant(np.zeros(model.nu))
    if name == ControlsName.schedule:
        return _require_schedule(scene)
    if model.nkey == 0:
        raise Error(
            "invalid_value", str(scene.path), "has no <keyframe> to take controls from; use 'zero'"
        )
    return _make_constant(model.key_ctrl[0].copy())


def default_controls(scene: Scene) -> ControlsName:
    """Returns the controls of a scene by default: its schedule, else its first keyframe, else zero."""
    if scene.control_schedule:
        return ControlsName.schedule
    return ControlsName.keyframe if scene.model.nkey else ControlsName.zero


def default_duration(scene: Scene) -> float:
    """Returns the time from the scene's start to the end of its control schedule, or 2 s [s]."""
    schedule = scene.control_schedule
    start = float(scene.model.key_time[0]) if scene.model.nkey else 0.0
    return schedule.end - start if schedule and schedule.end > start else 2.0


def count_steps(duration: float, time_step: float) -> int:
    """Returns the number of steps that reach a duration; 1e-6 steps are rounding. Error: above 1e12."""
    quotient = duration / time_step if time_step else math.inf
    if not quotient <= _MAX_STEPS:
        raise Error(
            "invalid_value",
            "duration",
            f"{duration:g} s with a time step of {time_step:g} s needs {quotient:.3g} steps, more "
            f"than the {_MAX_STEPS:g} allowed; shorten the duration or increase the time step",
        )
    return max(1, math.ceil(quotient - 1e-6))


class RandomControls:
    """Controls that are drawn anew every 0.1 s of simulated time, uniform over their range or [-1, 1].

    They are a function of time and seed, so that other time steps, models and replays find the same.
    """

    def __init__(self, model: mujoco.MjModel, seed: int) -> None:
        limited = model.actuator_ctrllimited.astype(bool)
        self._low = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
        self._high = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
        self._random = np.random.default_rng(seed)
        self._start: float | None = None
        self._drawn: list[np.ndarray] = []

    def __call__(self, data: mujoco.MjData) -> None:
        if self._start is None:
            self._start = data.time
        # The time is a rounded sum of time steps; half a microsecond absorbs its error.
        needed = 1 + math.floor((data.time - self._start + 5e-7) / _HOLD_TIME)
        while len(self._drawn) < needed:
            share = self._random.random(len(self._low))
            self._drawn.append((1 - share) * self._low + share * self._high)
        data.ctrl[:] = self._drawn[max(needed, 1) - 1]


def make_slow_controls(model: mujoco.MjModel) -> Callable[[float], np.ndarray]:
    """Returns slow sines within half of each actuator's range, as a function of time, (nu,)."""
    is_limited = model.actuator_ctrllimited.astype(bool)
    low = np.where(is_limited, model.actuator_ctrlrange[:, 0], -1)
    high = np.where(is_limited, model.actuator_ctrlrange[:, 1], 1)
    rng = np.random.default_rng(3)
    frequency, phase = rng.uniform(0.3, 2, model.nu), rng.uniform(0, 2 * np.pi, model.nu)
    middle, half = (low + high) / 2, (high - low) / 4
    return lambda t: middle + half * np.sin(2 * np.pi * frequency * t + phase)


def _require_schedule(scene: Scene) -> Controls:
    schedule = scene.control_schedule
    if schedule is None:
        raise Error(
            "invalid_value",
            str(scene.path),
            f"declares no schedule of controls; name its keyframes in <text name='{CONTROLS}'>",
        )
    return schedule


def _make_constant(ctrl: np.ndarray) -> Controls:
    def apply(data: mujoco.MjData) -> None:
        data.ctrl[:] = ctrl

    return apply
