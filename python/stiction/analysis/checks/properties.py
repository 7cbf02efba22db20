"""Checks of contact properties: frictionless contacts, and settings that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from stiction.analysis.checks.subject import Finding, Subject

_DEFAULT_FRICTION = 1.0  # of MJCF: a geom with another value was given one
_MAX_TRIED = 100  # pairs whose contact is asked of the simulator
_MODULUS = "hydroelastic_modulus"
_MAX_PARTNERS = 1000  # partners of a geom whose contact is asked of the simulator


def check_friction_dimension(subject: Subject) -> Iterator[Finding]:
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


def check_unused_properties(subject: Subject) -> Iterator[Finding]:
    """Yields the materials that no geom has, and the geoms whose pressure field never presses."""
    properties = subject.scene.properties
    if properties is None or subject.model.ngeom < 2:
        return
    materials = properties.content.get("materials", {})
    material_of = [_find_material(subject, geom) for geom in range(subject.model.ngeom)]
    for name in materials:
        if name not in material_of:
            yield Finding(
                "unused_settings",
                f"material '{name}' ({properties.origin}) belongs to no geom; assign it to one, or "
                "remove it",
                {"material": name},
            )
    for geom, material in enumerate(material_of):
        content: Any = materials.get(material or "", {})
        if material is not None and _MODULUS in content:
            yield from _check_field(subject, geom, material)


def _find_material(subject: Subject, geom: int) -> str | None:
    other = 0 if geom else 1
    geoms = subject.simulator.explain(geom, other)["geoms"]
    found: str | None = next(each["material"] for each in geoms if each["id"] == geom)
    return found


def _check_field(subject: Subject, geom: int, material: str) -> Iterator[Finding]:
    """Yields the geom if it has partners, and touches all of them in points."""
    partners = np.flatnonzero(subject.may_touch(np.array([geom]))[0])
    reason = None
    for partner in islice(partners, _MAX_PARTNERS):
        explanation = subject.simulator.explain(geom, int(partner))
        if explanation["touches_in"] == "patches":
            return
        reason = reason or explanation.get("why_points")
    if reason is None or len(partners) > _MAX_PARTNERS:
        return
    yield Finding(
        "unused_settings",
        f"{_MODULUS} of material '{material}' has no effect on {subject.name_geom(geom)}, which touches "
        f"all its partners in points: {reason}; give the partners a {_MODULUS} or 'rigid: true', or "
        "remove it",
        {"geoms": [geom], "material": material},
    )
