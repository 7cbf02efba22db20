"""Conversion of contact patches to the records of a recording and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stiction._core import ContactReport, PatchReport
from stiction.recording import format as fmt

# ---- Conversion of contacts and anchors to the records of a recording and back -------------------


def pack_contacts(contacts: ContactReport) -> bytes:
    """Returns the records of contacts as bytes."""
    records = np.zeros(len(contacts), fmt.CONTACT_DTYPE)
    for name in fmt.CONTACT_DTYPE.names or ():
        records[name] = getattr(contacts, name)
    return records.tobytes()


def unpack_contacts(data: bytes, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Rebuilds the contacts of a step as records of format.CONTACT_DTYPE.

    Args:
        data: the message.
        dtype: the type of its records. Those of format 1 have no slip velocity and no torque, which are
            then NaN, and no patch, which is -1 until mark_patches.

    Raises:
        ValueError: the message is no sequence of such records.
    """
    recorded = np.frombuffer(data, dtype)
    if dtype == fmt.CONTACT_DTYPE:
        return recorded
    records = np.zeros(len(recorded), fmt.CONTACT_DTYPE)
    records["slip_velocity"] = records["torque_impulse"] = np.nan
    records["patch"] = -1
    return _copy_fields(recorded, records)


def unpack_anchors(data: bytes, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Rebuilds the anchors of a step as records of format.ANCHOR_DTYPE.

    Args:
        data: the message.
        dtype: the type of its records. Fields that they lack are 0.

    Raises:
        ValueError: the message is no sequence of such records.
    """
    recorded = np.frombuffer(data, dtype)
    return _copy_fields(recorded, np.zeros(len(recorded), fmt.ANCHOR_DTYPE))


def _copy_fields(source: NDArray[np.void], out: NDArray[np.void]) -> NDArray[np.void]:
    """Copies the fields that both arrays have, and returns `out`."""
    for name in source.dtype.names or ():
        if name in (out.dtype.names or ()):
            out[name] = source[name]
    return out


def mark_patches(contacts: NDArray[np.void], patches: list[RecordedPatch]) -> NDArray[np.void]:
    """Sets the patch of contacts of format 1. Two geoms touch in points or in a patch, never in both."""
    contacts = contacts.copy()
    for i, patch in enumerate(patches):
        contacts["patch"][(contacts["geoms"] == patch.patch["geoms"]).all(axis=1)] = i
    return contacts


PATCH_DTYPES = {
    fmt.PATCHES: fmt.PATCH_DTYPE,
    fmt.FACES: fmt.FACE_DTYPE,
    fmt.VERTICES: fmt.VERTEX_DTYPE,
}


@dataclass
class RecordedPatch:
    """A recorded patch, as structured arrays whose fields have the names of ContactPatch.

    Attributes:
        patch: a record of format.PATCH_DTYPE with the values of the whole patch, such as its force.
        faces: records of format.FACE_DTYPE, (num_faces,).
        vertices: records of format.VERTEX_DTYPE, face after face, (num_vertices,).
    """

    patch: np.void
    faces: NDArray[np.void]
    vertices: NDArray[np.void]


def pack_patches(patches: PatchReport) -> dict[str, NDArray[np.void]]:
    """Returns the records of patches, faces and vertices by topic."""
    out: dict[str, list[NDArray[np.void]]] = {topic: [] for topic in PATCH_DTYPES}
    for patch in patches:
        head = np.zeros(1, fmt.PATCH_DTYPE)
        faces = np.zeros(len(patch), fmt.FACE_DTYPE)
        vertices = np.zeros(len(patch.vertices), fmt.VERTEX_DTYPE)
        head["num_faces"] = len(patch)
        faces["num_vertices"] = np.diff(patch.faces)
        for records in (head, faces, vertices):
            for name in records.dtype.names or ():
                if not name.startswith("num_"):
                    records[name] = getattr(patch, name)
        for topic, records in zip(PATCH_DTYPES, (head, faces, vertices), strict=True):
            out[topic].append(records)
    return {topic: np.concatenate(runs) for topic, runs in out.items()}


def unpack_patches(records: dict[str, NDArray[np.void]]) -> list[RecordedPatch]:
    """Rebuilds the patches of a step from records by topic.

    Raises:
        ValueError: a topic is missing, or the counts do not agree.
    """
    if not records:
        return []
    if records.keys() != PATCH_DTYPES.keys():
        missing = ", ".join(sorted(PATCH_DTYPES.keys() - records.keys()))
        raise ValueError(f"the patches have no {missing}")
    heads, faces, vertices = (records[topic] for topic in PATCH_DTYPES)
    num_vertices = faces["num_vertices"]
    if heads["num_faces"].sum() != len(faces) or num_vertices.sum() != len(vertices):
        raise ValueError("the numbers of faces or vertices disagree with those of the patches")
    out: list[RecordedPatch] = []
    face = vertex = 0
    for head in heads:
        next_face = face + int(head["num_faces"])
        next_vertex = vertex + int(num_vertices[face:next_face].sum())
        out.append(RecordedPatch(head, faces[face:next_face], vertices[vertex:next_vertex]))
        face, vertex = next_face, next_vertex
    return out
