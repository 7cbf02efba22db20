"""Runs of the clutter over time steps or stiffnesses, in several scenes, and their means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stiction.evidence.experiments.convergence import calc_order
from stiction.evidence.studies.clutter.run import ClutterRun

# The runs of all scenes, by the name of the line in a plot and the time step or stiffness.
Sweep = Mapping[str, Mapping[float, Sequence[ClutterRun]]]

_MEASURES: dict[str, Callable[[ClutterRun], float]] = {
    "iterations": ClutterRun.mean_iterations,
    "condition": ClutterRun.mean_condition,
    "mean_penetration": lambda run: run.mean_penetration,
    "median_penetration": lambda run: run.median_penetration,
}


@dataclass(frozen=True)
class Measure:
    """A value in several scenes.

    mean: geometric mean of the scenes.
    spread: factor by which a scene typically differs from the mean: the exponential of the
        standard deviation of the logarithm; 1 for a single scene.
    """

    mean: float
    spread: float


def measure(runs: Sequence[ClutterRun], value: Callable[[ClutterRun], float]) -> Measure:
    """Measures a positive value in several scenes; NaN if a scene lacks the value."""
    logs = np.log([value(run) for run in runs])
    spread = float(np.exp(logs.std(ddof=1))) if len(runs) > 1 else 1.0
    return Measure(float(np.exp(logs.mean())), spread)


def calc_means(
    runs: Mapping[float, Sequence[ClutterRun]], value: Callable[[ClutterRun], float]
) -> dict[float, float]:
    """Returns the mean over the scenes for each time step or stiffness."""
    return {key: measure(of_scenes, value).mean for key, of_scenes in runs.items()}


def calc_ratio(values: Mapping[float, float]) -> float:
    """Returns the largest value divided by the smallest."""
    return max(values.values()) / min(values.values())


def calc_penetration_order(runs: Mapping[float, Sequence[ClutterRun]]) -> float:
    """Returns the order of the median penetration over the stiffness."""
    return calc_order(calc_means(runs, lambda run: run.median_penetration))


def describe_sweep(runs: Sweep) -> dict[str, dict[float, Any]]:
    """Returns the measures of all runs, and the figures of the first scene, fit for JSON."""
    return {
        name: {
            key: {
                "num_scenes": len(of_key[key]),
                "num_failed": sum(run.num_failed for run in of_key[key]),
                "num_steps": sum(len(run.time) for run in of_key[key]),
                **{what: asdict(measure(of_key[key], get)) for what, get in _MEASURES.items()},
                "first_scene": of_key[key][0].describe(),
            }
            for key in sorted(of_key)
        }
        for name, of_key in runs.items()
    }
