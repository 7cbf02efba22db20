"""Finds geoms so thin that a body passes through them in one step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stiction.checks.subject import Finding, Subject

_MAX_TRIED = 100  # pairs whose contact is asked of the simulator


def check(subject: Subject) -> Iterator[Finding]:
    """Yields the pair of geoms with the lowest speed at which one passes through the other."""
    thickness = subject.thickness
    both = thickness[:, None] + thickness[None, :]  # infinite beside a plane
    speeds = both / (2 * subject.simulator.time_step)
    thin = subject.may_touch & (speeds < subject.speed)
    first, second = np.nonzero(np.triu(thin & (subject.tree[:, None] != subject.tree[None, :])))
    order = np.argsort(speeds[first, second], kind="stable")
    for i in order[:_MAX_TRIED]:
        a, b = int(first[i]), int(second[i])
        if subject.explain(a, b) is None:
            continue
        yield _make_finding(subject, a, b, float(speeds[a, b]), len(order) - 1)
        return


def _make_finding(subject: Subject, a: int, b: int, speed: float, num_others: int) -> Finding:
    sides = subject.thickness
    others = f" ({num_others} more pairs are as thin)" if num_others else ""
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
