"""What Ant and Humanoid have in common: a robot that shall walk along x without falling."""

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
