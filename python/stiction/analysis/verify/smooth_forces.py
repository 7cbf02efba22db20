"""The impulse of all smooth forces in a step, as an interval for each dof.

A step takes some forces at its start and others, which restore or dissipate, at its end. Both are
computed here with MuJoCo from the recorded states, and the impulse of a dof lies between them. At
rest the interval is a point. Where forces change within a step, as in an impact, it is wide, and the
balance of momentum says less.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.recording import format as fmt

Vector = NDArray[np.float64]

_FRICTION_ERROR = 1e-3  # of the bound of dry friction, which the solver meets to its tolerance [-]
_BEYOND = 2  # over the width of the interval [-]
_INPUTS = (
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "eq_active",
    "mocap_pos",
    "mocap_quat",
    "userdata",
)


@dataclass
class StepStates:
    """The states at the start and the end of a step, with MuJoCo's forces; `last` is of load_start."""

    model: mujoco.MjModel
    start: mujoco.MjData
    end: mujoco.MjData
    last: mujoco.MjData

    @classmethod
    def make(cls, model: mujoco.MjModel) -> StepStates:
        """Makes the data of a scene."""
        own = copy.copy(model)
        own.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        return cls(own, *(mujoco.MjData(own) for _ in range(3)))

    def load(self, layout: fmt.Layout, before: Vector, after: Vector) -> None:
        """Computes positions, velocities and forces of the states before and after a step."""
        first = before.copy()
        for name in _INPUTS:
            if name in layout:
                first[layout[name]] = after[layout[name]]
        for data, state in ((self.start, first), (self.end, after)):
            mujoco.mj_setState(self.model, data, state, fmt.INTEGRATION)
            mujoco.mj_fwdPosition(self.model, data)
            mujoco.mj_fwdVelocity(self.model, data)
            mujoco.mj_fwdActuation(self.model, data)

    def load_start(self, layout: fmt.Layout, state: Vector, velocity: Vector) -> mujoco.MjData:
        """Returns data with the positions of a state and another qvel."""
        own = state.copy()
        own[layout["qvel"]] = velocity
        mujoco.mj_setState(self.model, self.last, own, fmt.INTEGRATION)
        mujoco.mj_fwdPosition(self.model, self.last)
        mujoco.mj_fwdVelocity(self.model, self.last)
        return self.last


def calc_smooth_impulses(states: StepStates, time_step: float) -> tuple[Vector, Vector]:
    """Returns the smallest and largest impulse of smooth forces and dry friction, (nv,) each."""
    first, last = (_calc_forces(states.model, data) for data in (states.start, states.end))
    low, high = np.minimum(first, last), np.maximum(first, last)
    # The step's forces are linear in the velocity, so they may go beyond MuJoCo's where those of a
    # servo reach a limit within the step.
    width = _BEYOND * (high - low)
    friction = (1 + _FRICTION_ERROR) * np.asarray(states.model.dof_frictionloss)
    return time_step * (low - width - friction), time_step * (high + width + friction)


def _calc_forces(model: mujoco.MjModel, data: mujoco.MjData) -> Vector:
    """Returns the force of gravity, Coriolis forces, springs, dampers, actuators and the user, (nv,)."""
    force = data.qfrc_passive + data.qfrc_actuator - data.qfrc_bias + data.qfrc_applied
    applied = np.zeros(model.nv)
    for body in np.flatnonzero(np.any(data.xfrc_applied, axis=1)):
        wrench = data.xfrc_applied[body]
        mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], data.xipos[body], int(body), applied)
    return np.asarray(force + applied)
