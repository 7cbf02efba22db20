"""Finds contact properties that nothing reads: materials without a geom, and fields without a patch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from stiction.analysis.checks.subject import Finding, Subject

_MODULUS = "hydroelastic_modulus"
_MAX_TRIED = 1000  # partners of a geom whose contact is asked of the simulator


def check(subject: Subject) -> Iterator[Finding]:
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
    for partner in islice(partners, _MAX_TRIED):
        explanation = subject.simulator.explain(geom, int(partner))
        if explanation["touches_in"] == "patches":
            return
        reason = reason or explanation.get("why_points")
    if reason is None or len(partners) > _MAX_TRIED:
        return
    yield Finding(
        "unused_settings",
        f"{_MODULUS} of material '{material}' has no effect on {subject.name_geom(geom)}, which touches "
        f"all its partners in points: {reason}; give the partners a {_MODULUS} or 'rigid: true', or "
        "remove it",
        {"geoms": [geom], "material": material},
    )
