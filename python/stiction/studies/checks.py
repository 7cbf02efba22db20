"""What a study expects, and whether it came out so."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One expectation.

    name: what is measured, with its unit.
    value: what came out; None where there was nothing to measure, which fails.
    wanted: what it must be, in words.
    source: who says so.
    """

    name: str
    value: float | None
    wanted: str
    passed: bool
    source: str


def check_at_most(name: str, value: float | None, limit: float, source: str) -> Check:
    """Passes up to `limit`; not for NaN or None."""
    return Check(name, value, f"<= {limit:.4g}", value is not None and value <= limit, source)


def check_at_least(name: str, value: float | None, limit: float, source: str) -> Check:
    """Passes from `limit`; not for NaN or None."""
    return Check(name, value, f">= {limit:.4g}", value is not None and value >= limit, source)


def check_between(name: str, value: float | None, low: float, high: float, source: str) -> Check:
    """Passes within both limits; not for NaN or None."""
    passed = value is not None and low <= value <= high
    return Check(name, value, f"{low:.4g} .. {high:.4g}", passed, source)


def check_near(
    name: str, value: float | None, expected: float, relative: float, source: str
) -> Check:
    """Passes within a share `relative` of what is expected; not for NaN or None."""
    passed = value is not None and abs(value - expected) <= relative * abs(expected)
    percent = f"{100 * relative:.3g} %"
    return Check(name, value, f"{expected:.4g} within {percent}", passed, source)


def format_value(check: Check) -> str:
    """For people: four digits; '-' for None."""
    if check.value is None:
        return "-"
    return str(check.value) if math.isinf(check.value) else f"{check.value:.4g}"
