"""The common part of Ant and Humanoid: a robot that must walk along x without falling."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.batch import Batch
from stiction.errors import IgnoredSettingWarning
from stiction.gym.requirements import find_asset
from stiction.gym.task import Bools, Floats, Ids, Task


@dataclass
class Locomotion(Task):
    """A robot with a free base, whose reward is that of Gymnasium's walking robots, version 5.

        reward = forward_reward_weight * x_velocity + healthy_reward * is_healthy
                 - ctrl_cost_weight * |controls|^2 - contact cost

    Attributes:
        xml_file: a file of Gymnasium's assets, or a path with a folder.
        forward_reward_weight: reward for a velocity along x [s/m].
        ctrl_cost_weight: cost of the squared controls.
        contact_cost_weight: cost of the squared forces on bodies.
        healthy_reward: reward for each step with the robot upright.
        terminate_when_unhealthy: whether a fall ends the episode.
        healthy_z_range: heights of the base in which the robot is upright [m].
        reset_noise_scale: size of the random changes of the first positions and velocities.
        exclude_current_positions_from_observation: leaves x and y out of the observations.
    """

    xml_file: str = ""
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.5
    contact_cost_weight: float = 5e-4
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (0.2, 1.0)
    reset_noise_scale: float = 0.1
    exclude_current_positions_from_observation: bool = True

    def make_model(self) -> mujoco.MjModel:
        if Path(self.xml_file).parent != Path():
            return mujoco.MjModel.from_xml_path(str(Path(self.xml_file).expanduser()))
        file = find_asset("gymnasium", f"envs/mujoco/assets/{self.xml_file}")
        return mujoco.MjModel.from_xml_path(str(file))

    def make_batch(self, *arguments: Any, **options: Any) -> Batch:
        with warnings.catch_warnings():
            # Gymnasium's models ask for RK4, which the user did not choose.
            warnings.filterwarnings("ignore", "integrator 'RK4' of the MJCF", IgnoredSettingWarning)
            return super().make_batch(*arguments, **options)

    def attach(self, batch: Batch) -> None:
        self.body_forces: Floats = batch.bind("cfrc_ext")
        super().attach(batch)

    def reset(self, ids: Ids, randoms: Sequence[np.random.Generator]) -> None:
        model, scale = self.batch.model, self.reset_noise_scale
        position = [random.uniform(-scale, scale, model.nq) for random in randoms]
        velocity = [self.draw_velocity(random, model.nv) for random in randoms]
        self.set_state(ids, model.qpos0 + np.array(position), np.array(velocity))

    def draw_velocity(self, random: np.random.Generator, nv: int) -> Floats:
        """Draws the velocities of one robot at the start of an episode."""
        return random.uniform(-self.reset_noise_scale, self.reset_noise_scale, nv)

    @abstractmethod
    def find_positions(self) -> Floats:
        """Returns the positions in the plane whose velocity is rewarded [m], (num_envs, 2)."""

    @abstractmethod
    def find_healthy(self) -> Bools:
        """Returns whether each robot is upright."""

    @abstractmethod
    def calc_contact_cost(self) -> Floats:
        """Returns the costs of forces on bodies."""

    def begin_step(self) -> None:
        self._before = self.find_positions()

    def evaluate(self, actions: NDArray[Any]) -> tuple[Floats, Bools, dict[str, NDArray[Any]]]:
        velocity = (self.find_positions() - self._before) / self.dt
        healthy = self.find_healthy()
        rewards = {
            "reward_forward": self.forward_reward_weight * velocity[:, 0],
            "reward_ctrl": -self.ctrl_cost_weight * np.square(self.ctrl).sum(axis=1),
            "reward_contact": -self.calc_contact_cost(),
            "reward_survive": self.healthy_reward * healthy,
        }
        infos = self.describe_start() | rewards
        infos |= {"x_velocity": velocity[:, 0].copy(), "y_velocity": velocity[:, 1].copy()}
        total = np.sum(list(rewards.values()), axis=0)
        return total, ~healthy & self.terminate_when_unhealthy, infos

    def describe_start(self) -> dict[str, NDArray[Any]]:
        return {
            "x_position": self.qpos[:, 0].copy(),
            "y_position": self.qpos[:, 1].copy(),
            "distance_from_origin": np.linalg.norm(self.qpos[:, :2], axis=1),
        }

    def join(self, *parts: Floats) -> Floats:
        """Returns observations of positions, velocities and further arrays, as rows."""
        position = self.qpos[:, 2 * self.exclude_current_positions_from_observation :]
        rows = [part.reshape(len(part), -1) for part in (position, self.qvel, *parts)]
        return np.concatenate(rows, axis=1)


# ---- Ant: Gymnasium's Ant-v5, a robot with four legs ---------------------------------------------


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


# ---- Humanoid: Gymnasium's Humanoid-v5, a robot with two legs ------------------------------------


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
