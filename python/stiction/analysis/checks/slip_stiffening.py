"""Finds contacts that slip makes stiffer, at the largest speed that the scene is for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stiction.analysis.artifacts.budget import find_properties
from stiction.analysis.artifacts.predictions import (
    OperatingPoint,
    calc_stiffness_factor,
    describe_stiffening,
)
from stiction.analysis.checks.subject import Finding, Subject

_MAX_TRIED = 100  # pairs whose contact is asked of the simulator


def check(subject: Subject) -> Iterator[Finding]:
    """Yields the pair of geoms that slip stiffens most, if by a tenth at least."""
    if not (subject.traits.lifts_sliding and subject.traits.takes_laws):
        return
    options, at = subject.simulator.options, OperatingPoint(subject.speed, 0.0, 1.0)
    worst, worst_factor = None, 1.0
    for a, b in _list_pairs(subject):
        explanation = subject.simulator.explain(a, b)
        if not explanation["collides"]:
            continue
        pair = find_properties(explanation)
        factor = calc_stiffness_factor(options, pair, at)
        if factor > worst_factor:
            worst, worst_factor = (a, b, pair), factor
    if worst is None:
        return
    a, b, pair = worst
    text = describe_stiffening(options, pair, subject.speed)
    if text:
        yield Finding(
            "slip_stiffening",
            f"{subject.name_geom(a)} and {subject.name_geom(b)}: {text}",
            {"geoms": [a, b], "factor": worst_factor, "speed": subject.speed},
        )


def _list_pairs(subject: Subject) -> list[tuple[int, int]]:
    """Returns the first pairs of geoms that may touch."""
    found: list[tuple[int, int]] = []
    for rows in subject.blocks(np.arange(subject.model.ngeom)):
        may_touch = subject.may_touch(rows) & (rows[:, None] < np.arange(subject.model.ngeom))
        found += [(int(rows[a]), int(b)) for a, b in np.argwhere(may_touch)[:_MAX_TRIED]]
        if len(found) >= _MAX_TRIED:
            break
    return found[:_MAX_TRIED]
