"""Ant: Gymnasium's Ant-v5, a robot with four legs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stiction.batch import Batch
from stiction.gym.locomotion import Locomotion
from stiction.gym.task import Bools, Floats


@dataclass
class Ant(Locomotion):
    """The task of Gymnasium's Ant-v5, with its parameters, observations and rewards.

    https://gymnasium.farama.org/environments/mujoco/ant describes them. The model is the file of the
    installed Gymnasium.

    Attributes:
        main_body: the body whose velocity is rewarded, by its id or name.
        contact_force_range: range to which forces on bodies are clipped [N, N m].
        include_cfrc_ext_in_observation: whether observations have the clipped forces on bodies.
    """

    xml_file: str = "ant.xml"
    main_body: int | str = 1
    contact_force_range: tuple[float, float] = (-1.0, 1.0)
    include_cfrc_ext_in_observation: bool = True

    def attach(self, batch: Batch) -> None:
        self._xpos: Floats = batch.bind("xpos")
        self._main_body = batch.model.body(self.main_body).id
        super().attach(batch)

    def draw_velocity(self, random: np.random.Generator, nv: int) -> Floats:
        return self.reset_noise_scale * random.standard_normal(nv)

    def find_positions(self) -> Floats:
        return self._xpos[:, self._main_body, :2].copy()

    def find_healthy(self) -> Bools:
        low, high = self.healthy_z_range
        finite = np.isfinite(self.qpos).all(axis=1) & np.isfinite(self.qvel).all(axis=1)
        healthy: Bools = finite & (self.qpos[:, 2] >= low) & (self.qpos[:, 2] <= high)
        return healthy

    def clip_forces(self) -> Floats:
        """Returns the forces on bodies in their range [N, N m], (num_envs, nbody, 6)."""
        return np.asarray(np.clip(self.body_forces, *self.contact_force_range))

    def calc_contact_cost(self) -> Floats:
        return np.asarray(self.contact_cost_weight * np.square(self.clip_forces()).sum(axis=(1, 2)))

    def observe(self) -> Floats:
        if not self.include_cfrc_ext_in_observation:
            return self.join()
        return self.join(self.clip_forces()[:, 1:])
