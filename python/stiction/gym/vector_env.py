"""BatchVectorEnv: a task on many simulations of a stiction.Batch, as Gymnasium's VectorEnv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stiction.errors import Error
from stiction.gym.random_streams import RandomStreams
from stiction.gym.task import Bools, Floats, Observations
from stiction.gym.task_names import TaskLike, make_task
from stiction.inputs.arguments import check_integer
from stiction.setup.defaults import NOT_GIVEN
from stiction.setup.properties import PropertiesLike

# ---- Infos as Gymnasium's vector environments return them: arrays, with a mask of the valid rows each


def add_infos(infos: dict[str, Any], values: Mapping[str, NDArray[Any]], mask: Bools) -> None:
    """Writes rows of values into infos, and marks those of the mask in `_key`.

    Rows that are not marked are 0. As in Gymnasium, a key that would have no row is absent.
    """
    if not mask.any():
        return
    for key, value in values.items():
        if key not in infos:
            infos[key] = np.zeros_like(value)
            infos[f"_{key}"] = np.zeros(len(mask), bool)
        infos[key][mask] = value[mask]
        infos[f"_{key}"][mask] = True


def add_final(
    infos: dict[str, Any], observations: Any, values: Mapping[str, NDArray[Any]], done: Bools
) -> None:
    """Writes `final_obs` and `final_info` of finished episodes, from before their reset."""
    if not done.any():
        return
    final_info: dict[str, Any] = {}
    add_infos(final_info, values, done)
    final_obs = np.full(len(done), None, object)
    for i in np.flatnonzero(done):
        final_obs[i] = take_row(observations, int(i))
    infos |= {"final_obs": final_obs, "_final_obs": done.copy()}
    infos |= {"final_info": final_info, "_final_info": done.copy()}


def take_row(observations: Any, row: int) -> Any:
    """Returns a copy of the observation of one environment."""
    if isinstance(observations, dict):
        return {key: take_row(value, row) for key, value in observations.items()}
    return observations[row].copy()


class ResetNeededError(Error, gymnasium.error.ResetNeeded):
    """An environment must be reset before it can step."""


class BatchVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Environments of one task, whose simulations step together in a stiction.Batch.

        envs = gymnasium.make_vec("stiction/Ant-v5", num_envs=64, contact_model="coulomb")
        observations, infos = envs.reset(seed=0)
        for _ in range(1000):
            observations, rewards, terminations, truncations, infos = envs.step(policy(observations))

    No step has a loop over environments in Python. Only the random numbers of a reset, and the
    observations in `final_obs`, are made one by one. Each environment has a random generator of its
    own: environment i draws the numbers that an environment of Gymnasium draws after
    reset(seed=seed + i). Results do not depend on nthread.

    `infos` has, beside the infos of the task, `error_bound`: the bound of the error of the step's
    physics steps, the largest one [sqrt(J)]; see StepReport.error_bound.

    An environment in which a physics step fails raises stiction.SimulationError. With
    on_failure='stop' its episode is truncated instead, and with 'keep_best' it goes on.

    Attributes:
        task: the task.
        batch: the simulations, to read and to change them.
        metadata: 'autoreset_mode', the mode in use, and 'autoreset_modes', all that can be chosen.

    Args:
        task: a Task, a class of tasks, or its name as 'module:Class'.
        num_envs: number of environments.
        max_episode_steps: steps after which an episode is truncated; None: no limit.
        autoreset_mode: what happens after the end of an episode, as in Gymnasium's SyncVectorEnv.
            NEXT_STEP: the next step ignores the action and returns the first observation of a new
            episode. SAME_STEP: the step itself returns it, and `infos` has `final_obs` and
            `final_info`. DISABLED: the caller calls reset(options={"reset_mask": mask}).
        nthread: number of threads; 0: all processors.
        contact_model, properties: as those of Batch.
        parameters: parameters of the task, such as frame_skip, and options of Batch, such as
            tolerance, by name.

    Raises:
        Error: an argument is out of range.
        TypeError: neither the task nor Batch has a parameter of a name.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as in VectorEnv
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
        "autoreset_modes": tuple(AutoresetMode),
    }

    def __init__(
        self,
        task: TaskLike,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        nthread: int = 0,
        contact_model: str = NOT_GIVEN,
        properties: PropertiesLike = None,
        render_mode: None = None,
        **parameters: Any,
    ) -> None:
        _check_render_mode(render_mode)
        self.autoreset_mode = _check_autoreset_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.num_envs = check_integer("num_envs", num_envs, 1)
        if max_episode_steps is not None:
            check_integer("max_episode_steps", max_episode_steps, 1)
        self.max_episode_steps = max_episode_steps
        self.task, options = make_task(task, parameters)
        self.batch = self.task.make_batch(
            num_envs, nthread, contact_model, properties=properties, **options
        )
        self.task.attach(self.batch)
        self.single_observation_space = self.task.observation_space
        self.single_action_space = self.task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._bound: Floats = self.batch.bind("error_bound")
        self._randoms = RandomStreams(num_envs)
        self._num_steps = np.zeros(num_envs, np.int64)
        self._needs_reset = np.ones(num_envs, bool)

    # The generators of all environments, as in SyncVectorEnv. There is none of the vector environment.
    @property
    def np_random(self) -> Any:
        """The random generators, one for each environment."""
        return self._randoms.generators

    @np_random.setter
    def np_random(self, generators: Any) -> None:
        for i, generator in enumerate(generators):
            self._randoms.set(i, generator)

    @property
    def np_random_seed(self) -> Any:
        """The seeds of the generators, one for each environment."""
        return self._randoms.seeds

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in all environments, or in those of options['reset_mask'].

        Args:
            seed: None: generators go on. A number: environment i takes seed + i. A sequence: one for
                each environment.
            options: may have 'reset_mask', a bool for each environment.

        Returns:
            The observations of all environments, and the infos of those that were reset.
        """
        self._check_open("reset")
        mask = self._take_reset_mask(options)
        self._randoms.seed(seed, np.flatnonzero(mask))
        self._begin_episodes(mask)
        infos: dict[str, Any] = {}
        add_infos(infos, self.task.describe_start(), mask)
        return self.task.observe(), infos

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observations, Floats, Bools, Bools, dict[str, Any]]:
        """Takes a step in each environment; see the class for the end of episodes.

        Args:
            actions: (num_envs, ...), as action_space has them.

        Returns:
            Observations, rewards, terminations, truncations and infos, in new arrays.
        """
        self._check_open("step")
        actions = self._check_actions(actions)
        starts = self._find_starts()
        steps = ~starts
        rewards, terminations, truncations, values = self._simulate(actions, steps)
        infos: dict[str, Any] = {}
        done = terminations | truncations
        if self.autoreset_mode is AutoresetMode.SAME_STEP and done.any():
            add_final(infos, self.task.observe(), values, done)
            starts, steps = done, ~done
        add_infos(infos, values, steps)
        if starts.any():
            self._begin_episodes(starts)
            add_infos(infos, self.task.describe_start(), starts)
        self._needs_reset = done & ~starts
        return self.task.observe(), rewards, terminations, truncations, infos

    def _check_open(self, function: str) -> None:
        if self.closed:
            raise Error("unsupported", function, "the environments are closed; make new ones")

    def _simulate(
        self, actions: NDArray[Any], steps: Bools
    ) -> tuple[Floats, Bools, Bools, dict[str, NDArray[Any]]]:
        """Steps some simulations; rewards and flags of the others are 0."""
        self.task.begin_step()
        if steps.any():
            everyone = steps.all()
            ids = np.flatnonzero(steps)
            self.task.act(actions, slice(None) if everyone else ids)
            self.batch.step(None if everyone else ids, nstep=self.task.frame_skip)
        self._num_steps += steps
        rewards, terminations, values = self.task.evaluate(actions)
        values["error_bound"] = self._bound.copy()
        status: Any = self.batch.status
        truncations: Bools = status != 0  # only with on_failure='stop'; otherwise step() raises
        if self.max_episode_steps is not None:
            truncations = truncations | (self._num_steps >= self.max_episode_steps)
        return np.where(steps, rewards, 0.0), terminations & steps, truncations & steps, values

    def _begin_episodes(self, mask: Bools) -> None:
        ids = np.flatnonzero(mask)
        self.task.reset(ids, self._randoms.take(ids))
        self._num_steps[mask] = 0
        self._needs_reset = self._needs_reset & ~mask

    def _find_starts(self) -> Bools:
        """Returns the environments that begin an episode in place of a step."""
        if not self._needs_reset.any():
            return np.zeros(self.num_envs, bool)
        was_reset = self._was_reset()
        if was_reset and self.autoreset_mode is AutoresetMode.NEXT_STEP:
            return self._needs_reset
        i = int(np.flatnonzero(self._needs_reset)[0])
        remedy = (
            "its episode is over; call reset(options={'reset_mask': terminations | truncations}), or "
            "choose another autoreset_mode"
            if was_reset
            else "it has not been reset; call reset()"
        )
        raise ResetNeededError("unsupported", f"environment {i}", f"cannot step, because {remedy}")

    def _was_reset(self) -> bool:
        """Returns True if each environment has begun an episode since it was made."""
        return bool((self._num_steps[self._needs_reset] > 0).all())

    def _check_actions(self, actions: Any) -> NDArray[Any]:
        array = np.asarray(actions)
        if array.shape != self.action_space.shape:
            raise Error(
                "wrong_shape",
                "actions",
                f"has the shape {array.shape}, must have {self.action_space.shape}: one row for each "
                "environment",
            )
        return array

    def _take_reset_mask(self, options: dict[str, Any] | None) -> Bools:
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,):
            raise Error(
                "wrong_shape",
                "options['reset_mask']",
                f"is {mask!r}, must be an array of {self.num_envs} bools",
            )
        if not mask.any():
            raise Error(
                "invalid_value",
                "options['reset_mask']",
                "is False for all environments; do not call reset if there is nothing to reset",
            )
        return mask


def _check_autoreset_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(repr(each.value) for each in AutoresetMode)
        raise Error(
            "unknown_name",
            "autoreset_mode",
            f"is {mode!r}, must be an AutoresetMode or one of {known}",
        ) from None


def _check_render_mode(mode: Any) -> None:
    if mode is not None:
        raise Error(
            "unsupported",
            "render_mode",
            f"is {mode!r}, but these environments draw no pictures; get one simulation by "
            "envs.unwrapped.batch.get_data(i), and draw it by mujoco.Renderer or a viewer",
        )
