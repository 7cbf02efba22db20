"""An evolution strategy: it improves parameters by comparing the returns of changed ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class EvolutionStrategy:
    """Climbs the expected return of parameters with normal noise, by Adam.

    Each generation tries pairs of opposite changes. Only the ranks of their returns count, so the scale
    of the reward does not matter. This is the strategy of Salimans et al., "Evolution Strategies as a
    Scalable Alternative to Reinforcement Learning" (2017).

    Attributes:
        mean: the present parameters.

    Args:
        mean: the first parameters.
        num_pairs: number of pairs in a generation.
        noise: standard deviation of the changes.
        rate: length of a step of Adam.
        random: generator of the changes.
    """

    def __init__(
        self, mean: Floats, num_pairs: int, noise: float, rate: float, random: np.random.Generator
    ) -> None:
        self.mean = mean.copy()
        self.rate = rate
        self._num_pairs, self._noise, self._random = num_pairs, noise, random
        self._first = np.zeros_like(mean)  # moments of Adam
        self._second = np.zeros_like(mean)
        self._num_generations = 0
        self._changes = np.zeros((2 * num_pairs, mean.size))

    def ask(self) -> Floats:
        """Returns the parameters of a generation, (2 num_pairs, size)."""
        changes = self._random.standard_normal((self._num_pairs, self.mean.size))
        self._changes = np.concatenate([changes, -changes])
        return self.mean + self._noise * self._changes

    def tell(self, returns: Floats) -> None:
        """Improves the mean by the returns of the parameters that ask() gave."""
        ranks = np.argsort(np.argsort(returns)) / (len(returns) - 1) - 0.5
        gradient = ranks @ self._changes / (len(returns) * self._noise)
        self._num_generations += 1
        self._first += 0.1 * (gradient - self._first)
        self._second += 0.01 * (gradient**2 - self._second)
        first = self._first / (1 - 0.9**self._num_generations)
        second = self._second / (1 - 0.99**self._num_generations)
        self.mean += self.rate * first / (np.sqrt(second) + 1e-8)
