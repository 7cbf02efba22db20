"""Computes the contacts at the initial state, and finds what a run would start with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stiction._core import TOO_DEEP, StepReport
from stiction.analysis.checks.subject import Finding, Subject
from stiction.errors import StepError


def check(subject: Subject) -> Iterator[Finding]:
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
