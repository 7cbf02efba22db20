"""Checks of the contacts at the initial state, and of those that slip."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stiction._core import TOO_DEEP, StepReport
from stiction.analysis.artifacts.budget import find_properties
from stiction.analysis.artifacts.predictions import (
    OperatingPoint,
    calc_stiffness_factor,
    describe_stiffening,
)
from stiction.analysis.checks.subject import Finding, Subject
from stiction.errors import StepError

_ENOUGH = 3  # points that resist every torque
_MAX_TRIED = 100  # pairs whose contact is asked of the simulator


def check_initial_state(subject: Subject) -> Iterator[Finding]:
    """Yields the failure of the forces at the initial state, or the deepest overlap."""
    try:
        report = subject.calc_initial_report()
    except StepError as e:
        yield Finding("initial_state", f"the first step fails: {e}")
        return
    yield from _check_overlaps(subject, report)


def _check_overlaps(subject: Subject, report: StepReport) -> Iterator[Finding]:
    contacts = report.contacts
    if len(contacts) == 0:
        return
    geoms = np.asarray(contacts.geoms).reshape(-1, 2)
    thickness = subject.thickness[geoms].min(axis=1)
    # Pressure fields may overlap, as far as their own warning allows.
    depth = np.where(np.asarray(contacts.patch) < 0, -np.asarray(contacts.distance), 0)
    # Every overlap of a geom without thickness is too deep.
    shares = np.divide(depth, thickness, out=np.where(depth > 0, np.inf, 0), where=thickness > 0)
    deepest = int(np.argmax(shares))
    if not shares[deepest] > TOO_DEEP:
        return
    a, b = (int(geom) for geom in geoms[deepest])
    yield Finding(
        "initial_state",
        f"{subject.name_geom(a)} and {subject.name_geom(b)} overlap by {depth[deepest]:.2g} m at the "
        f"start, and the thinner one is {thickness[deepest]:.2g} m thick; they part slowly, or on the "
        "wrong side; move them apart",
        {"geoms": [a, b], "depth": depth[deepest], "thickness": thickness[deepest]},
    )


def check_contact_list(subject: Subject) -> Iterator[Finding]:
    """Yields the geoms that touch in more points than MuJoCo keeps of a pair."""
    report = subject.initial_report
    if report is not None and "contact_list" in report.warnings:
        yield Finding("contact_list", report.warnings["contact_list"][1])


def check_patch_faces(subject: Subject) -> Iterator[Finding]:
    """Yields the patches of the initial state that press at one or two points.

    Such a patch resists no torque, or none about the line through both points.
    """
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


def check_slip_stiffening(subject: Subject) -> Iterator[Finding]:
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
