"""Runs of the clutter in several scenes: their means, and how far chance moves these.

The piles are chaotic. A change of the last bit gives other piles, as another scene does, so a mean is
known to a standard error. A check compares the end of the interval of two standard errors that is
farther from what is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stiction.evidence.experiments.convergence import calc_order
from stiction.evidence.studies.clutter.run import ClutterRun

# The runs of all scenes, by time step or stiffness.
Runs = Mapping[float, Sequence[ClutterRun]]
# The same by the name of the line in a plot.
Sweep = Mapping[str, Runs]
# The runs of all scenes at 2 ms and 1e7 N/m, by the name of their line.
Lines = Mapping[str, Sequence[ClutterRun]]

Value = Callable[[ClutterRun], float]  # a positive value of a run


@dataclass(frozen=True)
class Measure:
    """A value in several scenes."""

    num_scenes: int
    mean: float  # geometric mean of the scenes
    # Factor by which a scene typically differs from the mean: the exponential of the standard
    # deviation of the logarithm; 1 for a single scene.
    spread: float
    # The mean divided and multiplied by the exponential of two standard errors of its logarithm.
    low: float
    high: float


def measure(runs: Sequence[ClutterRun], value: Value) -> Measure:
    """Measures a positive value in several scenes; NaN if a scene lacks the value."""
    return _measure([value(run) for run in runs])


def measure_ratio(
    runs: Sequence[ClutterRun], others: Sequence[ClutterRun], value: Value
) -> Measure:
    """Measures the ratio of a value between two lists of runs, in the scenes that both have."""
    return _measure([value(run) / value(other) for run, other in zip(runs, others, strict=False)])


def _measure(values: Sequence[float]) -> Measure:
    logs = np.log(values)
    mean = float(np.exp(logs.mean()))
    if len(values) == 1:
        return Measure(1, mean, 1.0, mean, mean)
    deviation = float(logs.std(ddof=1))
    error = float(np.exp(2 * deviation / np.sqrt(len(values))))
    return Measure(len(values), mean, float(np.exp(deviation)), mean / error, mean * error)


def calc_means(runs: Runs, value: Value) -> dict[float, float]:
    """Returns the mean over the scenes for each time step or stiffness."""
    return {key: measure(of_scenes, value).mean for key, of_scenes in runs.items()}


def calc_penetration_order(runs: Runs) -> float:
    """Returns the order of the median penetration over the stiffness."""
    return calc_order(calc_means(runs, lambda run: run.median_penetration))


_OVER_A_SWEEP: dict[str, Value] = {
    "iterations": ClutterRun.mean_iterations,
    "condition": ClutterRun.mean_condition,
    "mean_penetration": lambda run: run.mean_penetration,
    "median_penetration": lambda run: run.median_penetration,
}
_OVER_TIME: dict[str, Value] = {
    "iterations_falling": lambda run: run.split_iterations()[0],
    "iterations_settled": lambda run: run.split_iterations()[1],
    "condition_impacts": lambda run: run.split_condition()[0],
    "condition_settled": lambda run: run.split_condition()[1],
    "stiction_speed_settled": lambda run: run.split_stiction_speed()[1],
}


def describe_lines(lines: Lines) -> dict[str, dict[str, Any]]:
    """Returns the measures of figures 14 and 15, and the first scene, fit for JSON."""
    return {
        name: {
            **{what: asdict(measure(runs, get)) for what, get in _OVER_TIME.items()},
            "first_scene": runs[0].describe(),
        }
        for name, runs in lines.items()
    }


def describe_sweep(runs: Sweep) -> dict[str, dict[float, Any]]:
    """Returns the measures of all runs, and the figures of the first scene, fit for JSON."""
    return {
        name: {
            key: {
                "num_failed": sum(run.num_failed for run in of_key[key]),
                "num_steps": sum(len(run.time) for run in of_key[key]),
                **{what: asdict(measure(of_key[key], get)) for what, get in _OVER_A_SWEEP.items()},
                "first_scene": of_key[key][0].describe(),
            }
            for key in sorted(of_key)
        }
        for name, of_key in runs.items()
    }
