"""Tests which values pass a check, and the texts of checks."""

from __future__ import annotations

import math

import pytest

from stiction.evidence.studies.checks import (
    check_at_least,
    check_at_most,
    check_between,
    check_near,
    format_value,
)


@pytest.mark.parametrize("value", [None, math.nan])
def test_a_missing_value_fails_every_check(value: float | None) -> None:
    checks = [
        check_at_most("a", value, 1, ""),
        check_at_least("a", value, -1, ""),
        check_between("a", value, -1, 1, ""),
        check_near("a", value, 0, 1, ""),
    ]
    assert not any(check.passed for check in checks)


def test_checks_pass_up_to_their_limits() -> None:
    assert check_at_most("a", 2.0, 2.0, "").passed
    assert not check_at_most("a", 2.01, 2.0, "").passed
    assert check_at_least("a", 2.0, 2.0, "").passed
    assert not check_at_least("a", 1.99, 2.0, "").passed
    assert check_between("a", 1.0, 1.0, 2.0, "").passed
    assert not check_between("a", 2.1, 1.0, 2.0, "").passed
    assert check_near("a", -9.0, -10.0, 0.1001, "").passed
    assert not check_near("a", -9.0, -10.0, 0.09, "").passed


def test_checks_describe_their_requirement_and_value() -> None:
    check = check_near("time [s]", 0.12, 0.1165, 0.02, "closed form")
    assert check.wanted == "0.1165 within 2 %"
    assert format_value(check) == "0.12"
    assert format_value(check_at_most("a", None, 1, "")) == "-"
