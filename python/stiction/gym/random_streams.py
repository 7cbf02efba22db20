"""The random generators of a vector environment: one for each environment, as in SyncVectorEnv."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random

from stiction.errors import Error
from stiction.gym.task import Ids
from stiction.inputs.arguments import check_integer

_LARGEST = 2**128 - 1  # largest seed


def check_seed(seed: Any) -> int:
    """Returns a seed that NumPy accepts, or raises Error."""
    return check_integer("seed", seed, 0, _LARGEST, wanted="at least 0")


class RandomStreams:
    """Generators whose environment i draws what Gymnasium draws after reset(seed=seed + i)."""

    def __init__(self, num_envs: int) -> None:
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._seeds: list[int | None] = [None] * num_envs

    def seed(self, seed: int | Sequence[int | None] | None, ids: Ids) -> None:
        """Starts generators from one seed plus their numbers, or one for each; None keeps one."""
        seeds = self._spread(seed)
        for i in ids:
            if seeds[i] is not None:
                self._generators[i], self._seeds[i] = np_random(seeds[i])

    def take(self, ids: Ids) -> list[np.random.Generator]:
        """Returns the generators of some environments, seeded by the system if they had no seed."""
        return [self._get(int(i)) for i in ids]

    def set(self, i: int, generator: np.random.Generator) -> None:
        """Gives environment i a generator of the caller."""
        self._generators[i], self._seeds[i] = generator, -1

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """The generators of all environments."""
        return tuple(self._get(i) for i in range(len(self._generators)))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all environments; -1 for a generator of the caller."""
        for i in range(len(self._seeds)):
            self._get(i)
        return tuple(seed for seed in self._seeds if seed is not None)

    def _get(self, i: int) -> np.random.Generator:
        generator = self._generators[i]
        if generator is None:
            generator, self._seeds[i] = np_random()
            self._generators[i] = generator
        return generator

    def _spread(self, seed: Any) -> list[int | None]:
        num_envs = len(self._seeds)
        if seed is None:
            return [None] * num_envs
        if isinstance(seed, Integral):
            return [check_seed(seed) + i for i in range(num_envs)]
        if isinstance(seed, str) or not isinstance(seed, Iterable):
            raise Error(
                "wrong_shape", "seed", f"is {seed!r}, must be an integer or a sequence of them"
            )
        seeds = [None if each is None else check_seed(each) for each in seed]
        if len(seeds) != num_envs:
            raise Error(
                "wrong_shape",
                "seed",
                f"has {len(seeds)} seeds, must have one for each of the {num_envs} environments, or "
                "be one number",
            )
        return seeds
