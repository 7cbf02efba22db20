"""What drives a scene's actuators while it runs by itself."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable

import mujoco
import numpy as np

from stiction.custom_text import CONTROLS
from stiction.errors import Error
from stiction.scene import Scene

# Sets data.ctrl before a step.
Controls = Callable[[mujoco.MjData], None]


class ControlsName(enum.StrEnum):
    """Controls that can be had by name."""

    zero = "zero"
    random = "random"
    keyframe = "keyframe"
    schedule = "schedule"


# How long a random control is held [s]: long against a step, short against a motion.
_HOLD_TIME = 0.1

_MAX_STEPS = 1e12  # a year at 30 us a step


def make_controls(name: ControlsName, scene: Scene, seed: int = 0) -> Controls:
    """Controls by name.

    Args:
        name: 'zero'; 'random', see RandomControls; 'keyframe': those of the first keyframe, held;
            'schedule': the scene's own, see control_schedule.
        scene: whose actuators they drive.
        seed: of 'random', at least 0.

    Raises:
        Error: 'keyframe' or 'schedule' for a scene without one, a schedule that is wrong.
    """
    model = scene.model
    if name == ControlsName.random:
        return RandomControls(model, seed)
    if name == ControlsName.zero:
        return _make_constant(np.zeros(model.nu))
    if name == ControlsName.schedule:
        return _require_schedule(scene)
    if model.nkey == 0:
        raise Error(
            "invalid_value", str(scene.path), "has no <keyframe> for the controls; use 'zero'"
        )
    return _make_constant(model.key_ctrl[0].copy())


def default_controls(scene: Scene) -> ControlsName:
    """The scene's schedule if it has one; else the first keyframe's, as the scene begins with it;
    else zero.

    Raises:
        Error: a schedule that is wrong.
    """
    if scene.control_schedule:
        return ControlsName.schedule
    return ControlsName.keyframe if scene.model.nkey else ControlsName.zero


def default_duration(scene: Scene) -> float:
    """To the end of the scene's schedule of controls, or 2 s [s].

    Raises:
        Error: a schedule that is wrong.
    """
    schedule = scene.control_schedule
    start = float(scene.model.key_time[0]) if scene.model.nkey else 0.0
    return schedule.end - start if schedule and schedule.end > start else 2.0


def count_steps(duration: float, time_step: float) -> int:
    """Steps that reach the duration; a millionth of a step is rounding.

    Args:
        duration: > 0 [s].
        time_step: > 0 [s].

    Raises:
        Error: more than 1e12 steps, which no run lives to see.
    """
    quotient = duration / time_step if time_step else math.inf
    if not quotient <= _MAX_STEPS:
        raise Error(
            "invalid_value",
            "duration",
            f"{duration:g} s in steps of {time_step:g} s are {quotient:.3g} steps, more than "
            f"{_MAX_STEPS:g}; shorten it or make the steps longer",
        )
    return max(1, math.ceil(quotient - 1e-6))


class RandomControls:
    """Each control uniform over its range, -1 to 1 where it has none, drawn anew every 0.1 s of
    simulated time. Equal seeds give equal controls, whatever the time step or contact model.
    """

    def __init__(self, model: mujoco.MjModel, seed: int) -> None:
        limited = model.actuator_ctrllimited.astype(bool)
        self._low = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
        self._high = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
        self._random = np.random.default_rng(seed)
        self._start: float | None = None
        self._num_drawn = 0
        self._ctrl = np.zeros(model.nu)

    def __call__(self, data: mujoco.MjData) -> None:
        if self._start is None:
            self._start = data.time
        # Half a microsecond forgives the rounding of a sum of time steps.
        needed = 1 + math.floor((data.time - self._start + 5e-7) / _HOLD_TIME)
        while self._num_drawn < needed:
            share = self._random.random(len(self._low))
            self._ctrl = (1 - share) * self._low + share * self._high
            self._num_drawn += 1
        data.ctrl[:] = self._ctrl


def _require_schedule(scene: Scene) -> Controls:
    schedule = scene.control_schedule
    if schedule is None:
        raise Error(
            "invalid_value",
            str(scene.path),
            f"has no schedule of controls; name its keyframes in <text name='{CONTROLS}'>",
        )
    return schedule


def _make_constant(ctrl: np.ndarray) -> Controls:
    def apply(data: mujoco.MjData) -> None:
        data.ctrl[:] = ctrl

    return apply
