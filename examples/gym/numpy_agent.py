"""The agent of PPO in NumPy: its networks, and the gradient of the objective."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from networks import Adam, Array, Network
from normalizer import Normalizer
from numpy.typing import NDArray
from ppo import Batch


class Agent:
    """A policy with normal noise and an estimate of the return, which improve by PPO.

    Attributes:
        observations: the scale of the observations.
        log_deviation: logarithm of the standard deviation of each action.
    """

    def __init__(
        self, num_observations: int, num_actions: int, deviation: float, random: np.random.Generator
    ) -> None:
        hidden = [64, 64]
        self.policy = Network([num_observations, *hidden, num_actions], 0.01, random)
        self.value = Network([num_observations, *hidden, 1], 1.0, random)
        self.log_deviation: Array = np.full(num_actions, np.log(deviation), np.float32)
        self.observations = Normalizer(num_observations)
        self._adam = Adam([*self.policy.parameters, self.log_deviation, *self.value.parameters])

    def act(self, observations: NDArray[np.float64]) -> Array:
        """Returns the actions without noise."""
        return self.policy(self.observations.scale(observations))

    def calc_log_probability(self, actions: Array, means: Array) -> Array:
        """Returns the logarithm of the density of actions, without its constant."""
        normal = (actions - means) / np.exp(self.log_deviation)
        return np.asarray(-(0.5 * normal**2 + self.log_deviation).sum(axis=1))

    def improve(self, batch: Batch, rate: float, clip: float) -> None:
        """Takes one step of Adam for a part of the collected steps."""
        self._adam.step(self.calc_gradient(batch, clip), rate)

    def calc_gradient(self, batch: Batch, clip: float) -> list[Array]:
        """Returns the gradient of the clipped objective and of the error of the values."""
        n = np.float32(len(batch["actions"]))
        advantages = batch["advantages"]
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        means = self.policy(batch["states"])
        ratio = np.exp(
            self.calc_log_probability(batch["actions"], means) - batch["log_probabilities"]
        )
        # The clipped objective is constant where the ratio has already moved far enough.
        moves = np.where(advantages > 0, ratio < 1 + clip, ratio > 1 - clip)
        weight = (-advantages * ratio * moves / n)[:, None]
        deviation = np.exp(self.log_deviation)
        normal = (batch["actions"] - means) / deviation
        policy_gradient = self.policy.calc_gradient(weight * normal / deviation)
        deviation_gradient = (weight * (normal**2 - 1)).sum(axis=0)
        error = self.value(batch["states"])[:, 0] - batch["targets"]
        value_gradient = self.value.calc_gradient((error / n)[:, None])
        return [*policy_gradient, deviation_gradient, *value_gradient]

    def save(self, path: Path) -> None:
        """Writes the policy into a file."""
        np.savez(
            path,
            *self.policy.parameters,
            mean=self.observations.mean,
            variance=self.observations.variance,
        )
