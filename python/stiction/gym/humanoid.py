"""Humanoid: Gymnasium's Humanoid-v5, a robot with two legs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.batch import Batch
from stiction.gym.locomotion import Locomotion
from stiction.gym.task import Bools, Floats


@dataclass
class Humanoid(Locomotion):
    """The task of Gymnasium's Humanoid-v5, with its parameters, observations and rewards.

    https://gymnasium.farama.org/environments/mujoco/humanoid describes them. The model is the file of
    the installed Gymnasium.

    Attributes:
        contact_cost_range: range to which the cost of forces on bodies is clipped.
        include_cinert_in_observation, include_cvel_in_observation,
            include_qfrc_actuator_in_observation, include_cfrc_ext_in_observation: whether
            observations have inertias and velocities of bodies, forces of actuators, and forces on
            bodies.
    """

    xml_file: str = "humanoid.xml"
    forward_reward_weight: float = 1.25
    ctrl_cost_weight: float = 0.1
    contact_cost_weight: float = 5e-7
    healthy_reward: float = 5.0
    healthy_z_range: tuple[float, float] = (1.0, 2.0)
    reset_noise_scale: float = 1e-2
    contact_cost_range: tuple[float, float] = (-np.inf, 10.0)
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True
    include_cfrc_ext_in_observation: bool = True

    def attach(self, batch: Batch) -> None:
        self._xipos: Floats = batch.bind("xipos")
        self._inertias: Floats = batch.bind("cinert")
        self._velocities: Floats = batch.bind("cvel")
        self._actuators: Floats = batch.bind("qfrc_actuator")
        self._tendons: Floats = batch.bind("ten_length")
        self._tendon_velocities: Floats = batch.bind("ten_velocity")
        mass = batch.model.body_mass
        self._weights = mass / mass.sum()
        super().attach(batch)

    def find_positions(self) -> Floats:
        return np.asarray(self._weights @ self._xipos[:, :, :2])

    def find_healthy(self) -> Bools:
        low, high = self.healthy_z_range
        healthy: Bools = (self.qpos[:, 2] > low) & (self.qpos[:, 2] < high)
        return healthy

    def calc_contact_cost(self) -> Floats:
        cost = self.contact_cost_weight * np.square(self.body_forces).sum(axis=(1, 2))
        return np.asarray(np.clip(cost, *self.contact_cost_range))

    def describe_start(self) -> dict[str, NDArray[Any]]:
        return super().describe_start() | {
            "tendon_length": self._tendons.copy(),
            "tendon_velocity": self._tendon_velocities.copy(),
        }

    def observe(self) -> Floats:
        parts = (
            (self.include_cinert_in_observation, self._inertias[:, 1:]),
            (self.include_cvel_in_observation, self._velocities[:, 1:]),
            (self.include_qfrc_actuator_in_observation, self._actuators[:, 6:]),
            (self.include_cfrc_ext_in_observation, self.body_forces[:, 1:]),
        )
        return self.join(*(part for is_included, part in parts if is_included))
