"""The costs of the steps of a run."""

from __future__ import annotations

import numpy as np

# Number of steps whose cost is averaged before the median and the minimum are taken. The noise of the
# clock is far below the cost of this many steps.
_BLOCK = 50


class StepCosts:
    """Costs of steps [us], averaged over blocks of 50 steps.

    The steps after the last full block do not count. Fewer than 50 steps are one block.
    """

    def __init__(self) -> None:
        self._blocks: list[float] = []
        self._open_sum, self._open_count = 0.0, 0

    def add(self, cost: float) -> None:
        """Adds the cost of one step [us]."""
        self._open_sum += cost
        self._open_count += 1
        if self._open_count == _BLOCK:
            self._blocks.append(self._open_sum / _BLOCK)
            self._open_sum, self._open_count = 0.0, 0

    def figures(self) -> dict[str, float | None]:
        """The minimum and the median of the blocks; None without steps."""
        blocks = self._blocks
        if not blocks and self._open_count:
            blocks = [self._open_sum / self._open_count]
        return {
            "min": min(blocks, default=None),
            "median": float(np.median(blocks)) if blocks else None,
        }
