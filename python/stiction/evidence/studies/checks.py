"""Checks of a study: an expectation, the measured value, and whether it passed."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One check.

    name: name of the measured quantity, with its unit.
    value: measured value; None if nothing could be measured, which fails.
    wanted: the required value, as text.
    passed: whether the value is as required.
    source: where the requirement comes from.
    """

    name: str
    value: float | None
    wanted: str
    passed: bool
    source: str


def check_at_most(name: str, value: float | None, limit: float, source: str) -> Check:
    """Returns a check that passes if value <= limit. NaN and None fail."""
    return Check(name, value, f"<= {limit:.4g}", value is not None and value <= limit, source)


def check_at_least(name: str, value: float | None, limit: float, source: str) -> Check:
    """Returns a check that passes if value >= limit. NaN and None fail."""
    return Check(name, value, f">= {limit:.4g}", value is not None and value >= limit, source)


def check_between(name: str, value: float | None, low: float, high: float, source: str) -> Check:
    """Returns a check that passes if low <= value <= high. NaN and None fail."""
    passed = value is not None and low <= value <= high
    return Check(name, value, f"{low:.4g} .. {high:.4g}", passed, source)


def check_near(
    name: str, value: float | None, expected: float, relative: float, source: str
) -> Check:
    """Returns a check that passes if |value - expected| <= relative |expected|. NaN and None fail."""
    passed = value is not None and abs(value - expected) <= relative * abs(expected)
    percent = f"{100 * relative:.3g} %"
    return Check(name, value, f"{expected:.4g} within {percent}", passed, source)


def format_value(check: Check) -> str:
    """Formats the value with four digits; '-' stands for None."""
    if check.value is None:
        return "-"
    return str(check.value) if math.isinf(check.value) else f"{check.value:.4g}"
