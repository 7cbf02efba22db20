"""Policies that are linear in the observation, many of them at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class LinearPolicy:
    """Actions tanh(W s + b) of scaled observations s.

    Attributes:
        mean, scale: mean and standard deviation of the observations that it has seen.
        weights: the parameters (W, b), flat; or a row of them for each environment.
    """

    def __init__(self, num_observations: int, num_actions: int) -> None:
        self.shape = (num_actions, num_observations + 1)
        self.weights: Floats = np.zeros(num_actions * (num_observations + 1))
        self.mean: Floats = np.zeros(num_observations)
        self.scale: Floats = np.ones(num_observations)
        self._count = 0.0
        self._squares: Floats = np.zeros(num_observations)

    def act(self, observations: Floats) -> NDArray[np.float32]:
        """Returns the actions for observations (num_envs, n)."""
        scaled = np.clip((observations - self.mean) / self.scale, -5, 5)
        rows = np.concatenate([scaled, np.ones((len(scaled), 1))], axis=1)
        weights = self.weights.reshape(-1, *self.shape)
        return np.tanh((weights @ rows[:, :, None])[:, :, 0]).astype(np.float32)

    def learn_scale(self, observations: Floats) -> None:
        """Adds observations to those that give mean and scale."""
        count = self._count + len(observations)
        change = observations - self.mean
        self.mean = self.mean + change.sum(axis=0) / count
        self._squares += (change * (observations - self.mean)).sum(axis=0)
        self._count = count
        self.scale = np.maximum(np.sqrt(self._squares / count), 1e-6)

    def save(self, path: Path) -> None:
        """Writes weights and scale into a file."""
        np.savez(path, weights=self.weights, mean=self.mean, scale=self.scale, shape=self.shape)

    @classmethod
    def load(cls, path: Path) -> LinearPolicy:
        """Reads a policy that save() wrote."""
        with np.load(path) as file:
            num_actions, num_rows = file["shape"]
            out = cls(int(num_rows) - 1, int(num_actions))
            out.weights, out.mean, out.scale = file["weights"], file["mean"], file["scale"]
        return out
