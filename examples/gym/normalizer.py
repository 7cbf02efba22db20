"""Mean and variance of rows, and rows in their units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Normalizer:
    """Mean and variance of the rows that it has seen."""

    def __init__(self, size: int) -> None:
        self.mean, self.variance, self._count = np.zeros(size), np.ones(size), 1e-4

    def learn(self, rows: NDArray[np.float64]) -> None:
        """Adds rows."""
        count = self._count + len(rows)
        change = rows.mean(axis=0) - self.mean
        self.variance = (
            self.variance * self._count
            + rows.var(axis=0) * len(rows)
            + change**2 * self._count * len(rows) / count
        ) / count
        self.mean = self.mean + change * len(rows) / count
        self._count = count

    def scale(self, rows: NDArray[np.float64]) -> NDArray[np.float32]:
        """Returns rows with mean 0 and variance 1, within 10."""
        scaled = (rows - self.mean) / np.sqrt(self.variance + 1e-8)
        return np.clip(scaled, -10, 10).astype(np.float32)
