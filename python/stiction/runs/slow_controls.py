"""Controls that any model can run with: slow sines within half of each actuator's range."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np


def make_slow_controls(model: mujoco.MjModel) -> Callable[[float], np.ndarray]:
    """Returns the controls as a function of time, (nu,). They are the same in every run."""
    is_limited = model.actuator_ctrllimited.astype(bool)
    low = np.where(is_limited, model.actuator_ctrlrange[:, 0], -1)
    high = np.where(is_limited, model.actuator_ctrlrange[:, 1], 1)
    rng = np.random.default_rng(3)
    frequency, phase = rng.uniform(0.3, 2, model.nu), rng.uniform(0, 2 * np.pi, model.nu)
    middle, half = (low + high) / 2, (high - low) / 4
    return lambda t: middle + half * np.sin(2 * np.pi * frequency * t + phase)
