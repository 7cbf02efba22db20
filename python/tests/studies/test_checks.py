"""Tests which values pass a check, and the texts of checks."""

from __future__ import annotations

import math

import pytest

from stiction.evidence.studies.checks import Checks, format_value


@pytest.mark.parametrize("value", [None, math.nan])
def test_a_missing_value_fails_every_check(value: float | None) -> None:
    checks = Checks()
    checks.at_most("a", value, 1, "")
    checks.at_least("a", value, -1, "")
    checks.between("a", value, -1, 1, "")
    checks.near("a", value, 0, 1, "")
    checks.known_miss("a", value, 1, "")
    assert not any(check.passed for check in checks)


def test_checks_pass_up_to_their_limits() -> None:
    checks = Checks()
    checks.at_most("a", 2.0, 2.0, "")
    checks.at_most("a", 2.01, 2.0, "")
    checks.at_least("a", 2.0, 2.0, "")
    checks.at_least("a", 1.99, 2.0, "")
    checks.between("a", 1.0, 1.0, 2.0, "")
    checks.between("a", 2.1, 1.0, 2.0, "")
    checks.near("a", -9.0, -10.0, 0.1001, "")
    checks.near("a", -9.0, -10.0, 0.09, "")
    assert [check.passed for check in checks] == [True, False] * 4


def test_checks_describe_their_requirement_and_value() -> None:
    checks = Checks()
    checks.near("time [s]", 0.12, 0.1165, 0.02, "closed form")
    checks.at_most("a", None, 1, "")
    near, missing = checks
    assert near.wanted == "0.1165 within 2 %"
    assert format_value(near) == "0.12"
    assert format_value(missing) == "-"


def test_a_known_miss_passes_until_it_holds() -> None:
    checks = Checks()
    checks.known_miss("a", 1.3, 1.2, "")
    checks.known_miss("a", 1.2, 1.2, "")
    assert [check.passed for check in checks] == [True, False]
    assert {check.wanted for check in checks} == {"<= 1.2"}
