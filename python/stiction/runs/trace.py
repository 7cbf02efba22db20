"""The figures of every step of a run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stiction import StepReport
from stiction.runs.step_costs import StepCosts


class Trace:
    """Collects quantities of a run over time, one entry per step.

    Infinite bounds, such as those of 'tamsi', become NaN.

    Args:
        is_certified: True if the model gives certificates; if not, bounds and residuals are NaN.
    """

    _FIELDS = ("time", "slip", "depth", "error_bound", "velocity_bound", "relative_residual")
    _COUNTS = ("iterations", "num_contacts")

    def __init__(self, is_certified: bool) -> None:
        self._is_certified = is_certified
        self._values: dict[str, list[float]] = {
            name: [] for name in (*self._FIELDS, *self._COUNTS, "us")
        }

    def add(self, time: float, report: StepReport, slip: float) -> None:
        """Adds a completed step.

        Args:
            time: time at the start of the step, for which the contacts are found [s].
            report: report of the step.
            slip: slip of the held body at that time, or NaN if no body is held [m].
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
        """Returns one quantity of all steps, (n,).

        The quantities are 'time' [s], 'slip' [m], 'depth' [m], 'error_bound' [sqrt(J)],
        'velocity_bound' [m/s], 'relative_residual' [-], 'iterations', 'num_contacts', and the wall
        time 'us' [us].
        """
        return np.array(self._values[name], dtype=float)

    def calc_us_per_step(self, begin: float) -> float | None:
        """Returns the mean wall time of a step in the cheapest block of 50 steps [us].

        Args:
            begin: only steps that start at this time or later count [s].

        Returns:
            The time, or None if no step counts.
        """
        costs = StepCosts()
        for us in self["us"][self["time"] >= begin]:
            costs.add(float(us))
        return costs.figures()["min"]
