"""Triangles with colors, and their binary glTF (GLB), which the browser draws without lights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stiction.view.glb import pack_glb
from stiction.view.tone_mapping import undo_tone_mapping

_FLOAT, _UINT16, _UINT32 = 5126, 5123, 5125  # component types of glTF
_BRIGHTEST = 3.0  # largest linear color that the file can have


@dataclass(frozen=True)
class ColoredMesh:
    """Triangles with a color at each vertex.

    vertices: positions [m], (n, 3).
    triangles: indices of vertices, (m, 3).
    colors: colors on the screen, sRGB in [0, 1], (n, 3).
    """

    vertices: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), int))
    colors: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def is_empty(self) -> bool:
        """True if there are no triangles."""
        return len(self.triangles) == 0


def join_meshes(meshes: Sequence[ColoredMesh]) -> ColoredMesh:
    """Returns all triangles of some meshes as one mesh."""
    meshes = [mesh for mesh in meshes if not mesh.is_empty]
    if not meshes:
        return ColoredMesh()
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return ColoredMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + i for mesh, i in zip(meshes, starts, strict=True)]),
        np.concatenate([mesh.colors for mesh in meshes]),
    )


def to_glb(mesh: ColoredMesh) -> bytes:
    """Returns a mesh as GLB, for viser's add_glb. Both sides of its triangles are visible."""
    vertices = mesh.vertices.astype("<f4")
    linear = undo_tone_mapping(mesh.colors) / _BRIGHTEST
    colors = np.full((len(vertices), 4), 0xFFFF, "<u2")
    colors[:, :3] = np.rint(0xFFFF * np.clip(linear, 0, 1))
    indices = mesh.triangles.astype("<u4").ravel()
    parts = [vertices.tobytes(), colors.tobytes(), indices.tobytes()]  # multiples of 4 bytes
    offsets = np.cumsum([0, *map(len, parts)])
    low, high = (vertices.min(0), vertices.max(0)) if len(vertices) else (np.zeros(3),) * 2
    document = {
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_materials_unlit"],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {
                "primitives": [
                    {"attributes": {"POSITION": 0, "COLOR_0": 1}, "indices": 2, "material": 0}
                ]
            }
        ],
        "materials": [
            {
                "doubleSided": True,
                "extensions": {"KHR_materials_unlit": {}},
                "pbrMetallicRoughness": {"baseColorFactor": [*(3 * [_BRIGHTEST]), 1]},
            }
        ],
        "buffers": [{"byteLength": int(offsets[-1])}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": int(begin), "byteLength": len(part)}
            for begin, part in zip(offsets, parts, strict=False)
        ],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": _FLOAT,
                "count": len(vertices),
                "type": "VEC3",
                "min": low.tolist(),
                "max": high.tolist(),
            },
            {
                "bufferView": 1,
                "componentType": _UINT16,
                "normalized": True,
                "count": len(vertices),
                "type": "VEC4",
            },
            {
                "bufferView": 2,
                "componentType": _UINT32,
                "count": len(indices),
                "type": "SCALAR",
            },
        ],
    }
    return pack_glb(document, b"".join(parts))
