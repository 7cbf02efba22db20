"""Task: what an environment simulates, observes and rewards, for all simulations at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.batch import Batch

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ids = NDArray[np.intp]
# An array with a row per environment, or a dict of such arrays.
Observations = Any


@dataclass
class Task(ABC):
    """A task for a BatchVectorEnv, as functions of arrays with one row per simulation.

    The fields of a subclass, which is a dataclass too, are the task's parameters, and arguments of
    gymnasium.make_vec. A BatchVectorEnv calls the methods in this order: make_model and attach once,
    reset for the simulations that begin an episode, and then, for each step, begin_step, act,
    evaluate and observe. All methods but `reset` and `act` work on all simulations.

    After attach(), `batch` has the simulations, `dt` is the time of one step [s], `qpos`, `qvel` and
    `ctrl` are live arrays of all simulations, and `observation_space` and `action_space` are those of
    one environment.

    Attributes:
        frame_skip: number of physics steps per step.
    """

    _: KW_ONLY
    frame_skip: int = 5

    @abstractmethod
    def make_model(self) -> mujoco.MjModel:
        """Returns the model of all simulations."""

    def make_batch(self, num_envs: int, nthread: int, contact_model: str, **options: Any) -> Batch:
        """Makes the simulations. The arguments are those of Batch."""
        return Batch(self.make_model(), num_envs, nthread, False, contact_model, **options)

    def attach(self, batch: Batch) -> None:
        """Takes the simulations, and binds what the task reads of them."""
        self.batch = batch
        time_step = batch.options["time_step"] or batch.model.opt.timestep
        self.dt = float(time_step * self.frame_skip)
        self.qpos: Floats = batch.bind("qpos")
        self.qvel: Floats = batch.bind("qvel")
        self.ctrl: Floats = batch.bind("ctrl")
        self.action_space = self.make_action_space()
        self.observation_space = self.make_observation_space()

    def make_action_space(self) -> gymnasium.spaces.Box:
        """Returns the space of one environment's actions: by default, the ranges of the controls."""
        low, high = self.batch.model.actuator_ctrlrange.astype(np.float32).T
        return gymnasium.spaces.Box(low, high, dtype=np.float32)

    def make_observation_space(self) -> gymnasium.spaces.Space[Any]:
        """Returns the space of one environment's observations: by default, unbounded numbers."""
        shape = self.observe().shape[1:]
        return gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float64)

    @abstractmethod
    def reset(self, ids: Ids, randoms: Sequence[np.random.Generator]) -> None:
        """Puts simulations into the state in which an episode begins.

        Args:
            ids: the simulations, ascending.
            randoms: the random generator of each of these simulations.
        """

    def set_state(self, ids: Ids, qpos: Floats, qvel: Floats) -> None:
        """Resets simulations, gives them positions and velocities, and computes what follows."""
        self.batch.reset(ids, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        self.qpos[ids] = qpos
        self.qvel[ids] = qvel
        self.batch.forward(ids)

    def begin_step(self) -> None:
        """Remembers what the reward of the step compares with; by default nothing."""
        return

    def act(self, actions: NDArray[Any], ids: Ids | slice) -> None:
        """Writes controls: by default, the actions themselves.

        Args:
            actions: those of all environments.
            ids: the simulations that will step.
        """
        self.ctrl[ids] = actions[ids]

    @abstractmethod
    def observe(self) -> Observations:
        """Returns the observations of all environments, in new arrays."""

    @abstractmethod
    def evaluate(self, actions: NDArray[Any]) -> tuple[Floats, Bools, dict[str, NDArray[Any]]]:
        """Returns rewards, terminations and infos after a step, in new arrays.

        A simulation that did not step gets numbers that nobody reads.
        """

    def describe_start(self) -> dict[str, NDArray[Any]]:
        """Returns the infos of simulations that were reset, in new arrays; by default none."""
        return {}
