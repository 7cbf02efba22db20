"""Finds geoms so thin that a body passes through them in one step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stiction.analysis.checks.subject import Finding, Subject

_MAX_TRIED = 100  # pairs whose contact is asked of the simulator


class _ThinPairs(NamedTuple):
    """The pairs of geoms that let bodies pass below the speed of a scene."""

    geoms: NDArray[np.int64]  # of the first _MAX_TRIED pairs with the lowest speeds (n, 2)
    speeds: NDArray[np.float64]  # of these pairs, rising [m/s] (n,)
    num_all: int


def check_thin_geoms(subject: Subject) -> Iterator[Finding]:
    """Yields the pair of geoms with the lowest speed at which one passes through the other."""
    pairs = _find_thin(subject)
    in_points = [i for i, (a, b) in enumerate(pairs.geoms) if subject.explain(a, b) is not None]
    if not in_points:
        return
    first, num_others = in_points[0], len(in_points) - 1
    others = f" ({_describe_others(num_others, pairs)})" if num_others else ""
    yield _make_finding(subject, pairs.geoms[first], float(pairs.speeds[first]), others, num_others)


def _find_thin(subject: Subject) -> _ThinPairs:
    speeds = subject.thickness / (2 * subject.simulator.time_step)  # of each geom's half
    thin = np.flatnonzero(speeds < subject.speed)
    found = _ThinPairs(np.zeros((0, 2), np.int64), np.zeros(0), 0)
    for rows in subject.blocks(thin):
        sums = speeds[rows, None] + speeds[thin]
        is_thin = subject.may_touch(rows)[:, thin] & (sums < subject.speed)
        is_thin &= (subject.tree[rows, None] != subject.tree[thin]) & (rows[:, None] < thin)
        a, b = np.nonzero(is_thin)
        geoms = np.concatenate([found.geoms, np.column_stack([rows[a], thin[b]])])
        pair_speeds = np.concatenate([found.speeds, sums[a, b]])
        slowest = np.argsort(pair_speeds, kind="stable")[:_MAX_TRIED]
        found = _ThinPairs(geoms[slowest], pair_speeds[slowest], found.num_all + len(a))
    return found


def _describe_others(num_others: int, pairs: _ThinPairs) -> str:
    least = "at least " if pairs.num_all > len(pairs.geoms) else ""
    return f"{least}{num_others} more pair{' is' if num_others == 1 else 's are'} below the speed"


def _make_finding(
    subject: Subject, geoms: NDArray[np.int64], speed: float, others: str, num_others: int
) -> Finding:
    a, b = (int(geom) for geom in geoms)
    sides = subject.thickness
    motion = (
        "a body that moves faster"
        if subject.traits.is_mj_step
        else "a body whose surface moves faster because it turns, or a mocap body that jumps,"
    )
    return Finding(
        "thin_geoms",
        f"{subject.name_geom(a)} and {subject.name_geom(b)} are {sides[a]:.2g} m and {sides[b]:.2g} m "
        f"thick{others}: from {speed:.2g} m/s on, {motion} goes more than half way through within a "
        f"step of {subject.simulator.time_step:g} s, and is pushed out on the far side; take a smaller "
        "step, or make the geoms thicker",
        {"geoms": [a, b], "speed": speed, "thickness": [sides[a], sides[b]], "others": num_others},
    )
