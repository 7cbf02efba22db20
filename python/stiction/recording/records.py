"""Conversion of reports to the records of a recording and back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction._core import ContactReport, PatchReport, StepReport
from stiction.recording import format as fmt
from stiction.tables.record_table import REPORT_ARRAYS

Records = NDArray[np.void]

_PATCH_ITEMS = {fmt.PATCHES: "patch", fmt.FACES: "face", fmt.VERTICES: "vertex"}


@dataclass
class RecordedPatch:
    """A recorded patch, as structured arrays whose fields have the names of ContactPatch.

    Attributes:
        patch: a record with the values of the whole patch, such as its force.
        faces: records of the faces, (num_faces,).
        vertices: records of the vertices, face after face, (num_vertices,).
    """

    patch: np.void
    faces: Records
    vertices: Records


def pack_contacts(contacts: ContactReport) -> bytes:
    """Returns the records of contacts as bytes."""
    return _pack(contacts, "contact", fmt.CONTACT_DTYPE)


def pack_patches(patches: PatchReport) -> dict[str, bytes]:
    """Returns the records of patches, faces and vertices by topic."""
    items = _PATCH_ITEMS.items()
    return {topic: _pack(patches, item, fmt.RECORD_DTYPES[topic]) for topic, item in items}


def _pack(report: Any, item: str, dtype: np.dtype[np.void]) -> bytes:
    columns = {}
    for array in REPORT_ARRAYS:
        if array.item == item and array.is_recorded:
            values = getattr(report, array.name)
            columns[array.field[0]] = np.diff(values) if array.starts_of else values
    records = np.zeros(len(next(iter(columns.values()))), dtype)
    for name, values in columns.items():
        records[name] = values
    return records.tobytes()


def unpack_records(data: bytes, recorded: np.dtype[np.void], dtype: np.dtype[np.void]) -> Records:
    """Rebuilds records, or raises ValueError. Fields that are absent are NaN, ids -1, flags 0."""
    source = np.frombuffer(data, recorded)
    if recorded == dtype:
        return source
    records = np.zeros(len(source), dtype)
    for name in dtype.names or ():
        if name in (recorded.names or ()):
            records[name] = source[name]
        else:
            records[name] = {"f": math.nan, "i": -1}.get(dtype[name].base.kind, 0)
    return records


def unpack_patches(records: dict[str, Records]) -> list[RecordedPatch]:
    """Rebuilds the patches of a step from records by topic, or raises ValueError."""
    return list(_find_patches(records)) if records else []


def _find_patches(records: dict[str, Records]) -> Iterator[RecordedPatch]:
    if missing := _PATCH_ITEMS.keys() - records.keys():
        raise ValueError(f"the patches have no {', '.join(sorted(missing))}")
    heads, faces, vertices = (records[topic] for topic in _PATCH_ITEMS)
    num_vertices = faces["num_vertices"]
    if heads["num_faces"].sum() != len(faces) or num_vertices.sum() != len(vertices):
        raise ValueError("the numbers of faces or vertices disagree with those of the patches")
    face = vertex = 0
    for head in heads:
        next_face = face + int(head["num_faces"])
        next_vertex = vertex + int(num_vertices[face:next_face].sum())
        yield RecordedPatch(head, faces[face:next_face], vertices[vertex:next_vertex])
        face, vertex = next_face, next_vertex


def mark_patches(contacts: Records, patches: list[RecordedPatch]) -> Records:
    """Sets the patch of contacts of format 1. Two geoms touch in points or in a patch, never in both."""
    contacts = contacts.copy()
    for i, patch in enumerate(patches):
        contacts["patch"][(contacts["geoms"] == patch.patch["geoms"]).all(axis=1)] = i
    return contacts


# The arguments of the call, and what the report says of it. A `max_time_step` of infinity is None.
ADVANCE_DTYPE = np.dtype(
    [
        ("until", "<f8"),
        ("accuracy", "<f8"),
        ("max_time_step", "<f8"),
        ("first_step", "<f8"),
        ("first_error", "<f8"),
        ("duration", "<f8"),
        ("smallest_step", "<f8"),
        ("largest_step", "<f8"),
        ("next_step", "<f8"),
        ("last_error", "<f8"),
        ("sum_of_errors", "<f8"),
        ("largest_error", "<f8"),
        ("num_steps", "<i4"),
        ("num_rejected", "<i4"),
        ("num_failed", "<i4"),
        ("num_not_extrapolated", "<i4"),
        ("num_inaccurate", "<i4"),
        ("extrapolate", "u1"),
    ]
)


def pack_advance(report: StepReport, max_time_step: float | None, extrapolate: bool) -> bytes:
    """Returns the record of a call that gave a report."""
    record = np.zeros(1, ADVANCE_DTYPE)
    for name in ADVANCE_DTYPE.names or ():
        if hasattr(report.advance, name):
            record[name] = getattr(report.advance, name)
    record["max_time_step"] = math.inf if max_time_step is None else max_time_step
    record["extrapolate"] = extrapolate
    record["duration"] = report.time_step if report.num_steps else 0.0
    return record.tobytes()


def unpack_advance(data: bytes) -> dict[str, Any]:
    """Returns the fields of a record by name, or raises ValueError."""
    if len(data) != ADVANCE_DTYPE.itemsize:
        raise ValueError(f"the record has {len(data)} bytes, expected {ADVANCE_DTYPE.itemsize}")
    record = np.frombuffer(data, ADVANCE_DTYPE)[0]
    return {name: record[name].item() for name in ADVANCE_DTYPE.names or ()}


def make_arguments(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of Simulator.advance, besides data, that repeat a recorded call."""
    longest = record["max_time_step"]
    return {
        "until": record["until"],
        "accuracy": record["accuracy"],
        "max_time_step": longest if math.isfinite(longest) else None,
        "first_step": record["first_step"],
        "last_error": record["first_error"],
        "extrapolate": bool(record["extrapolate"]),
    }
