"""Patches of pressure-field contact in a recording: records of patches, their faces and vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stiction._core import PatchReport
from stiction.recording import format as fmt

PATCH_DTYPES = {
    fmt.PATCHES: fmt.PATCH_DTYPE,
    fmt.FACES: fmt.FACE_DTYPE,
    fmt.VERTICES: fmt.VERTEX_DTYPE,
}


@dataclass
class RecordedPatch:
    """A patch as it was recorded, as structured arrays whose fields have the names of ContactPatch.

    Attributes:
        patch: a record with what the patch has once, such as its force.
        faces: a record for each face.
        vertices: a record for each vertex, of one face after the other.
    """

    patch: np.void
    faces: NDArray[np.void]
    vertices: NDArray[np.void]


def pack_patches(patches: PatchReport) -> dict[str, NDArray[np.void]]:
    """Records by topic."""
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
    """The patches of a step, of records by topic.

    Raises ValueError where the counts do not fit.
    """
    if not records:
        return []
    if records.keys() != PATCH_DTYPES.keys():
        raise ValueError(f"patches without {PATCH_DTYPES.keys() - records.keys()}")
    heads, faces, vertices = (records[topic] for topic in PATCH_DTYPES)
    num_vertices = faces["num_vertices"]
    if heads["num_faces"].sum() != len(faces) or num_vertices.sum() != len(vertices):
        raise ValueError("patches whose faces or vertices are not as many as they say")
    out: list[RecordedPatch] = []
    face = vertex = 0
    for head in heads:
        next_face = face + int(head["num_faces"])
        next_vertex = vertex + int(num_vertices[face:next_face].sum())
        out.append(RecordedPatch(head, faces[face:next_face], vertices[vertex:next_vertex]))
        face, vertex = next_face, next_vertex
    return out
