"""Measures the CPU time of steppers. They take turns, so that noise affects all of them equally."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Runner:
    """A stepper that can return to its initial state.

    reset: restores the initial state; not timed.
    advance: takes the given number of steps.
    num_steps: number of steps of one repeat.
    """

    reset: Callable[[], None]
    advance: Callable[[int], None]
    num_steps: int


@dataclass(frozen=True)
class Timing:
    """The minimum and the median of the CPU time per step over the repeats [us]."""

    minimum: float
    median: float


def time_in_turns(runners: Mapping[str, Runner], num_repeats: int) -> dict[str, Timing]:
    """Times each runner num_repeats times; the runners take turns."""
    samples: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(num_repeats):
        for name, runner in runners.items():
            runner.reset()
            start = time.process_time()
            runner.advance(runner.num_steps)
            samples[name].append((time.process_time() - start) * 1e6 / runner.num_steps)
    return {name: Timing(min(s), statistics.median(s)) for name, s in samples.items()}
