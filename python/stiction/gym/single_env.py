"""SingleEnv: one environment of a task, as Gymnasium's Env."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stiction.gym.random_streams import check_seed
from stiction.gym.task_names import TaskLike
from stiction.gym.vector_env import BatchVectorEnv, take_row


class SingleEnv(gymnasium.Env[Any, Any]):
    """One environment of a task: what gymnasium.make gives for the ids of stiction.gym.

    It is a BatchVectorEnv with one simulation, for programs that take a gymnasium.Env. Many
    environments are much faster in one BatchVectorEnv.

    Args:
        task, parameters: as those of BatchVectorEnv.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as in Env

    def __init__(self, task: TaskLike, *, nthread: int = 1, **parameters: Any) -> None:
        self.envs = BatchVectorEnv(
            task, 1, nthread=nthread, autoreset_mode=AutoresetMode.DISABLED, **parameters
        )
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space

    @property
    def batch(self) -> Any:
        """The Batch with the simulation."""
        return self.envs.batch

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=None if seed is None else check_seed(seed))
        self.envs.np_random = (self.np_random,)
        observations, infos = self.envs.reset()
        return take_row(observations, 0), _take_infos(infos)

    def close(self) -> None:
        """Closes the environment, which then takes no more steps."""
        self.envs.close()

    def step(self, action: NDArray[Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes a step."""
        observations, rewards, terminations, truncations, infos = self.envs.step(
            np.asarray(action)[None]
        )
        return (
            take_row(observations, 0),
            float(rewards[0]),
            bool(terminations[0]),
            bool(truncations[0]),
            _take_infos(infos),
        )


def _take_infos(infos: dict[str, Any]) -> dict[str, Any]:
    """Returns the infos of the first environment, without their masks."""
    return {key: _take_value(infos[key][0]) for key in infos if f"_{key}" in infos}


def _take_value(value: Any) -> Any:
    # SyncVectorEnv would collect NumPy's bools in an array of objects.
    return bool(value) if isinstance(value, np.bool_) else value
