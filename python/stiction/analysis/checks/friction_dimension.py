"""Finds contacts that condim makes frictionless although a surface has a friction coefficient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stiction.analysis.checks.subject import Finding, Subject

_DEFAULT_FRICTION = 1.0  # of MJCF: a geom with another value was given one
_MAX_TRIED = 100  # pairs whose contact is asked of the simulator


def check(subject: Subject) -> Iterator[Finding]:
    """Yields the first pair of geoms whose contact has condim 1 and a friction that was given."""
    if not subject.traits.uses_friction:
        return
    model = subject.model
    frictionless = np.flatnonzero((model.geom_condim == 1) & subject.touches_any)
    tried = 0
    for rows in subject.blocks(frictionless):
        may_touch = subject.may_touch(rows)[:, frictionless]
        for row, column in np.argwhere(may_touch & (rows[:, None] < frictionless)):
            tried += 1
            if tried > _MAX_TRIED:
                return
            found = _check_pair(subject, int(rows[row]), int(frictionless[column]))
            if found:
                yield found
                return


def _check_pair(subject: Subject, a: int, b: int) -> Finding | None:
    numbers = subject.explain(a, b)
    if numbers is None or numbers.get("condim") != 1:
        return None
    given = [g for g in (a, b) if subject.model.geom_friction[g, 0] != _DEFAULT_FRICTION]
    if not given:
        return None
    friction = float(subject.model.geom_friction[given[0], 0])
    return Finding(
        "friction_dimension",
        f"{subject.name_geom(a)} and {subject.name_geom(b)} touch without friction, because both have "
        f"condim 1, although {subject.name_geom(given[0])} has the friction {friction:.3g}; give one of "
        "them condim 3, or remove its friction",
        {"geoms": [a, b], "friction": friction},
    )
