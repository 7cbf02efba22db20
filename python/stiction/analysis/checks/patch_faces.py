"""Finds patches of pressure-field contact that press at fewer than three points at the start.

A patch with one face presses at one point, and one with two faces at two. It then resists no torque,
or none about the line through both. The quadrature `moment_exact` has three points on each face.
"""

from __future__ import annotations

from collections.abc import Iterator

from stiction.analysis.checks.subject import Finding, Subject

_ENOUGH = 3  # points that resist every torque


def check(subject: Subject) -> Iterator[Finding]:
    """Yields the patches of the initial state that press at one or two points."""
    report = subject.initial_report
    if report is None or subject.simulator.options["quadrature"] == "moment_exact":
        return
    for patch in report.patches:
        if len(patch) >= _ENOUGH:
            continue
        a, b = (int(geom) for geom in patch.geoms)
        faces = "one face" if len(patch) == 1 else f"{len(patch)} faces"
        points = "one point, and resist no torque" if len(patch) == 1 else "two points"
        yield Finding(
            "patch_faces",
            f"{subject.name_geom(a)} and {subject.name_geom(b)} touch in a patch with {faces} on "
            f"{patch.area:.2g} m^2; pressure and friction act at {points}; set "
            "quadrature=moment_exact, or give a finer mesh or a smaller resolution_hint",
            {"geoms": [a, b], "num_faces": len(patch), "area": float(patch.area)},
        )
