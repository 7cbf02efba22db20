"""What every step of a run tells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stiction import StepReport

# Steps whose cost is averaged before the minimum is taken: the clock's noise is far below that.
BLOCK = 50


class Trace:
    """Figures of a run's steps, one entry a step.

    Args:
        is_certified: False: bounds and residuals are NaN, as the model proves nothing.

    A bound that is infinite, as those of 'tamsi', is NaN.
    """

    _FIELDS = ("time", "slip", "depth", "error_bound", "velocity_bound", "relative_residual")
    _COUNTS = ("iterations", "num_contacts")

    def __init__(self, is_certified: bool) -> None:
        self._is_certified = is_certified
        self._values: dict[str, list[float]] = {
            name: [] for name in (*self._FIELDS, *self._COUNTS, "us")
        }

    def add(self, time: float, report: StepReport, slip: float) -> None:
        """A step that was made.

        Args:
            time: at its start, at which contacts are found [s].
            slip: of the held body at that time [m], NaN if there is none.
        """
        values, distance = self._values, report.contacts.distance
        values["time"].append(time)
        values["slip"].append(slip)
        values["depth"].append(max(0.0, -float(distance.min())) if len(distance) else 0.0)
        certificate = report.certificate if self._is_certified else None
        for name in ("error_bound", "velocity_bound", "relative_residual"):
            value = getattr(certificate, name) if certificate else np.nan
            values[name].append(value if math.isfinite(value) else np.nan)
        values["iterations"].append(report.statistics.iterations)
        values["num_contacts"].append(report.statistics.num_contacts)
        values["us"].append(report.timings.total)

    def __len__(self) -> int:
        return len(self._values["time"])

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Entries of 'time' [s], 'slip' [m], 'depth' [m], 'error_bound' [sqrt(J)], 'velocity_bound'
        [m/s], 'relative_residual' [-], 'iterations', 'num_contacts' or 'us' per step.
        """
        return np.array(self._values[name], dtype=float)

    def calc_us_per_step(self, begin: float) -> float | None:
        """Of the steps from time `begin` [s], the cheapest block's mean [us]; None: no steps."""
        us = self["us"][self["time"] >= begin]
        if len(us) == 0:
            return None
        num_blocks = max(1, len(us) // BLOCK)
        return float(min(block.mean() for block in np.array_split(us, num_blocks)))
