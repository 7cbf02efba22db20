"""What every step of a run tells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stiction import StepReport

# Steps whose cost is averaged before the minimum is taken: the clock's noise is far below that.
BLOCK = 50


class Trace:
    """Quantities of a run over time, with one entry for each step.

    An infinite bound, such as that of 'tamsi', is NaN.

    Args:
        is_certified: False if the model has no certificate; bounds and residuals are then NaN.
    """

    _FIELDS = ("time", "slip", "depth", "error_bound", "velocity_bound", "relative_residual")
    _COUNTS = ("iterations", "num_contacts")

    def __init__(self, is_certified: bool) -> None:
        self._is_certified = is_certified
        self._values: dict[str, list[float]] = {
            name: [] for name in (*self._FIELDS, *self._COUNTS, "us")
        }

    def add(self, time: float, report: StepReport, slip: float) -> None:
        """Adds the entries of a step.

        Args:
            time: start of the step, when contacts are found [s].
            report: of the step.
            slip: slip of the held body at that time [m], NaN if no body is held.
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
        """Number of steps."""
        return len(self._values["time"])

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Returns a quantity by name, (n,): 'time' [s], 'slip' [m], 'depth' [m], 'error_bound'
        [sqrt(J)], 'velocity_bound' [m/s], 'relative_residual' [-], 'iterations', 'num_contacts' or
        'us', the wall time of the step [us].
        """
        return np.array(self._values[name], dtype=float)

    def calc_us_per_step(self, begin: float) -> float | None:
        """Of the steps from time `begin` [s], the cheapest block's mean [us]; None: no steps."""
        us = self["us"][self["time"] >= begin]
        if len(us) == 0:
            return None
        num_blocks = max(1, len(us) // BLOCK)
        return float(min(block.mean() for block in np.array_split(us, num_blocks)))
