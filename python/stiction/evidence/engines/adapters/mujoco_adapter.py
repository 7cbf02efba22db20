"""MuJoCo's mj_step."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from stiction.evidence.engines.drive import State
from stiction.evidence.engines.mjcf import make_contact, make_mjcf
from stiction.evidence.engines.world import Vector, World, invert, rotate


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"MuJoCo {mujoco.__version__}"


def set_start(world: World, model: Any, data: Any) -> None:
    """Sets the velocities at the start."""
    for body in world.bodies:
        dof = model.jnt_dofadr[model.joint(body.name).id]
        if body.joint is not None:
            data.qvel[dof] = body.joint.velocity
            continue
        data.qvel[dof : dof + 3] = body.velocity
        data.qvel[dof + 3 : dof + 6] = rotate(invert(body.quat), body.spin)


class Reader:
    """Reads the states of the bodies from MuJoCo's data, and applies forces to them."""

    def __init__(self, world: World, model: Any, data: Any) -> None:
        self._model, self._data = model, data
        self._bodies = np.array([model.body(body.name).id for body in world.bodies])
        self._velocity = np.empty(6)
        self._scratch = mujoco.MjData(model)

    def apply(self, forces: Vector) -> None:
        """Sets the forces on the centers of mass [N], (bodies, 3)."""
        self._data.xfrc_applied[self._bodies, :3] = forces

    def read(self) -> State:
        """Returns the state at the end of the last step, to whose beginning poses in `data` belong."""
        model, scratch = self._model, self._scratch
        scratch.qpos[:], scratch.qvel[:] = self._data.qpos, self._data.qvel
        mujoco.mj_kinematics(model, scratch)
        mujoco.mj_comPos(model, scratch)
        mujoco.mj_comVel(model, scratch)
        rates = np.empty((len(self._bodies), 6))
        for row, body in zip(rates, self._bodies, strict=True):
            mujoco.mj_objectVelocity(
                model, scratch, mujoco.mjtObj.mjOBJ_BODY, int(body), self._velocity, 0
            )
            row[:] = self._velocity
        return (
            scratch.xipos[self._bodies],
            scratch.xquat[self._bodies],
            rates[:, 3:],
            rates[:, :3],
        )


class MujocoAdapter:
    """mj_step as an Adapter.

    Settings: `option`, attributes of <option>.
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        xml = make_mjcf(
            world,
            time_step,
            option=settings.get("option", ""),
            contact=make_contact(world, time_step),
        )
        self._model = mujoco.MjModel.from_xml_string(xml)
        self._data = mujoco.MjData(self._model)
        set_start(world, self._model, self._data)
        self._reader = Reader(world, self._model, self._data)
        self._warnings = np.zeros(int(mujoco.mjtWarning.mjNWARNING))

    def step(self, forces: Vector) -> None:
        self._reader.apply(forces)
        mujoco.mj_step(self._model, self._data)

    def read(self) -> State:
        return self._reader.read()

    def take_messages(self) -> list[str]:
        """Returns the names of the warnings that MuJoCo has counted in the last step."""
        counts = np.array([warning.number for warning in self._data.warning])
        new, self._warnings = counts - self._warnings, counts
        return [mujoco.mjtWarning(int(i)).name for i in np.flatnonzero(new > 0)]
