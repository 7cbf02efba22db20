"""Tests that costs of steps are averaged over blocks of 50."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from stiction.runs.step_costs import StepCosts
from stiction.runs.trace import Trace


def summarize(costs: Iterable[float]) -> dict[str, float | None]:
    summary = StepCosts()
    for cost in costs:
        summary.add(cost)
    return summary.figures()


def test_no_step_has_no_cost() -> None:
    assert summarize([]) == {"min": None, "median": None}


def test_few_steps_are_one_block() -> None:
    assert summarize([1, 2, 6]) == {"min": 3, "median": 3}


def test_full_blocks_count_and_the_rest_does_not() -> None:
    assert summarize([*[4, 6] * 25, *[7] * 50, *[1] * 50, *[0] * 49]) == {"min": 1, "median": 5}


@pytest.mark.parametrize(("begin", "cost"), [(0, 1), (50, 2), (100, 2), (120, 2), (150, None)])
def test_a_trace_counts_the_steps_from_a_time_on(begin: float, cost: float | None) -> None:
    trace = Trace(is_certified=False)
    trace._values["time"] = list(np.arange(150.0))
    trace._values["us"] = [*[1.0] * 50, *[3.0] * 50, *[2.0] * 50]
    assert trace.calc_us_per_step(begin) == cost
