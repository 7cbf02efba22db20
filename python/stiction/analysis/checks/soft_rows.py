"""Finds equalities and limits that give under their loads, or are softer than they ask."""

from __future__ import annotations

from collections.abc import Iterator

from stiction.analysis.checks.row_deflection import (
    SoftRow,
    find_pushed_limits,
    find_soft_rows,
    takes_estimate,
)
from stiction.analysis.checks.subject import Finding, Subject

_MOST_TURN = 0.01  # deflection that is worth a finding [rad]
_MOST_LENGTH = 1e-3  # the same, relative to the extent of the model [-]
_FACTOR = 3.0  # by which MuJoCo's mobility must be too large for a finding


def check(subject: Subject) -> Iterator[Finding]:
    """Yields the rows that give too much, and those that MuJoCo's estimate makes too soft."""
    if subject.traits.is_rigid:
        return
    is_estimated = takes_estimate(subject)
    for row in find_soft_rows(subject):
        limit = _find_limit(subject, row)
        if row.deflection > limit:
            yield _describe_deflection(subject, row, limit)
        elif is_estimated and row.factor > _FACTOR:
            yield Finding(
                "soft_rows",
                f"{row.name} is {row.factor:.2g} times as soft as its solref and solimp ask, because "
                "MuJoCo's estimate of its mobility is as many times too large; set "
                f"{_remedy(subject)}",
                _list_values(row),
            )


def describe_rows(subject: Subject) -> str:
    """Says what holds if nothing is found, with the limit that gives most under its actuators, and
    the rows whose mobility MuJoCo overestimates."""
    text = "no equality or limit gives much under the loads of the start"
    if subject.traits.is_rigid:
        return text
    wrong = [row for row in find_soft_rows(subject) if row.factor > _FACTOR]
    if wrong:
        row, others = _find_worst(wrong, [row.factor for row in wrong])
        text += (
            f"; MuJoCo's estimate of the mobility of {row.name} is {row.factor:.2g} times too large"
            f"{others}, and the step takes the exact one"
        )
    shares = [
        (row.deflection / _find_limit(subject, row), row) for row in find_pushed_limits(subject)
    ]
    much = [(share, row) for share, row in shares if share > 1]
    if much:
        row, others = _find_worst([row for _, row in much], [share for share, _ in much])
        unit, load = _find_units(row)
        text += (
            f"; {row.name} gives by {row.deflection:.2g} {unit} where its actuators push against it "
            f"with all their force, {row.force:.3g} {load}{others}"
        )
    return text


def _find_limit(subject: Subject, row: SoftRow) -> float:
    """Returns the deflection that is worth a finding [m, rad]."""
    return _MOST_TURN if row.is_rotation else _MOST_LENGTH * float(subject.model.stat.extent)


def _find_worst(rows: list[SoftRow], sizes: list[float]) -> tuple[SoftRow, str]:
    """Returns the row of the largest size, and words for the others."""
    others = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    return rows[sizes.index(max(sizes))], others


def _find_units(row: SoftRow) -> tuple[str, str]:
    return ("rad", "N m") if row.is_rotation else ("m", "N")


def _remedy(subject: Subject) -> str:
    return "the flag diagexact" if subject.traits.is_mj_step else "exact_mobility=True"


def _describe_deflection(subject: Subject, row: SoftRow, limit: float) -> Finding:
    unit, load = _find_units(row)
    remedy = "give it a solref with a shorter time, and a solimp nearer to 1"
    if takes_estimate(subject) and row.factor > _FACTOR:
        wrong = f"MuJoCo's estimate of its mobility is {row.factor:.2g} times too large"
        remedy = f"{wrong}; set {_remedy(subject)}"
    return Finding(
        "soft_rows",
        f"{row.name} gives by {row.deflection:.2g} {unit} under the load of the start, "
        f"{row.force:.3g} {load}, and more than {limit:.2g} {unit} is much: its solref and solimp are a "
        f"spring; {remedy}, or choose a rigid model",
        _list_values(row) | {"limit": limit},
    )


def _list_values(row: SoftRow) -> dict[str, float | str]:
    return {
        "row": row.name,
        "deflection": row.deflection,
        "force": row.force,
        "factor": row.factor,
    }
