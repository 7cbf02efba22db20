"""Scenes with patches in Drake with hydroelastic contact."""

from __future__ import annotations

import mujoco

from stiction.errors import ignored_settings_are_fine
from stiction.evidence.engines.drake_model import DrakeModel, Scheme, find_materials
from stiction.evidence.studies.held.scenes import HeldScene, Vector
from stiction.simulator import Simulator


class DrakePatches:
    """A scene with patches in Drake with hydroelastic contact.

    The settings are those of Drake's example spatula_slip_control, which are its defaults: contact
    surfaces of polygons, and the contact properties and time step of the scene.

    Args:
        scene: the scene; DrakeModel says what it may have.
        approximation: Drake's discrete contact approximation.
        time_step: [s]; must be that of the scene.
    """

    def __init__(self, scene: HeldScene, approximation: Scheme, time_step: float) -> None:
        assert time_step == scene.model.opt.timestep
        self._scene, self._time_step, self._num_steps = scene, time_step, 0
        self._data = mujoco.MjData(scene.model)
        if scene.model.nkey:
            mujoco.mj_resetDataKeyframe(scene.model, self._data, 0)
        with ignored_settings_are_fine():
            simulator = Simulator(scene.model, "lagged", properties=scene.properties)
        materials = find_materials(scene.model, simulator)
        self._peer = DrakeModel(scene.model, materials, scheme=approximation)
        scene.drive(self._data)
        self._peer.set_state(self._data)

    def advance(self, time: float) -> None:
        """Takes steps until a time [s].

        Raises:
            RuntimeError: Drake's solver failed.
        """
        while self._num_steps < round(time / self._time_step):
            self._data.time = self._num_steps * self._time_step
            self._scene.drive(self._data)
            self._peer.set_controls(self._data.ctrl)
            self._peer.advance(1)
            self._num_steps += 1

    def find_place(self) -> Vector:
        """Returns the place of the held body in the frame of its holder [m]."""
        self._data.qpos[:] = self._peer.get_positions()
        return self._scene.find_place(self._data)
