"""The force of the mouse on a body: a damped spring from the grabbed point to the pointer."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_FREQUENCY = 20.0  # of the spring with the mass of the body's tree [rad/s]
_STABLE = 0.5  # largest frequency times time step; the force is constant within a step


@dataclass(frozen=True)
class _Grip:
    """body: id of the body; point: grabbed point in its frame; target: pointer in the world [m]."""

    body: int
    point: Vector
    target: Vector


class DragForce:
    """A force on the body that the mouse holds, set by the page's thread, applied by the simulation's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._grip: _Grip | None = None

    @property
    def is_active(self) -> bool:
        """True while a body is held."""
        return self._grip is not None

    def grab(self, body: int, point: Any, target: Any) -> None:
        """Takes hold of a body at a point in its frame, with the pointer at a target in the world."""
        with self._lock:
            self._grip = _Grip(body, np.array(point, float), np.array(target, float))

    def move(self, target: Any) -> None:
        """Moves the pointer to a position in the world [m], (3,)."""
        with self._lock:
            if self._grip:
                self._grip = _Grip(self._grip.body, self._grip.point, np.array(target, float))

    def release(self) -> None:
        """Lets the body go."""
        with self._lock:
            self._grip = None

    @contextlib.contextmanager
    def applied(
        self, model: mujoco.MjModel, data: mujoco.MjData, time_step: float
    ) -> Iterator[None]:
        """A context in which data.xfrc_applied contains the force for a step of this length [s]."""
        with self._lock:
            grip = self._grip
        if grip is None:
            yield
            return
        before = data.xfrc_applied[grip.body].copy()
        data.xfrc_applied[grip.body] += _calc_wrench(model, data, grip, time_step)
        try:
            yield
        finally:
            data.xfrc_applied[grip.body] = before


def _calc_wrench(
    model: mujoco.MjModel, data: mujoco.MjData, grip: _Grip, time_step: float
) -> Vector:
    """Returns force [N] and torque [N m], (6,), of a spring with critical damping."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    body = grip.body
    mass = float(model.body_subtreemass[model.body_rootid[body]])
    p = data.xpos[body] + data.xmat[body].reshape(3, 3) @ grip.point
    origin = data.subtree_com[model.body_rootid[body]]
    v = data.cvel[body, 3:] + np.cross(data.cvel[body, :3], p - origin)
    frequency = min(_FREQUENCY, _STABLE / time_step)
    force = mass * (frequency**2 * (grip.target - p) - 2 * frequency * v)
    return np.concatenate([force, np.cross(p - data.xipos[body], force)])
