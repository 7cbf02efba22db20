"""Forces or impulses that are known up to an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass
class Interval:
    """The smallest and largest value of each dof, and the sum of the sizes of its parts, (nv,) each."""

    low: Vector
    high: Vector
    size: Vector

    def add(self, first: Vector, second: Vector) -> None:
        """Adds a part that lies between two values, (nv,)."""
        self.low = self.low + np.minimum(first, second)
        self.high = self.high + np.maximum(first, second)
        self.size = self.size + np.maximum(np.abs(first), np.abs(second))
