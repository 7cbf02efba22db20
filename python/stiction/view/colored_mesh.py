"""Triangles with a color at each vertex, kept in spite of the browser's tone mapping.

viser's client draws with three.js' ACESFilmicToneMapping: c -> O f(I c / 0.6), where f is a quotient
of quadratic polynomials. The inverse solves a quadratic equation for each channel. Very saturated
colors have no inverse; the nearest color that the screen can show is taken.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Colors = NDArray[np.float64]

_EXPOSURE = 1 / 0.6
_INPUT = np.array(
    [[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]]
)
_OUTPUT = np.array(
    [[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]]
)
# f(v) = (v^2 + a v - b) / (c v^2 + d v + e)
_A, _B, _C, _D, _E = 0.0245786, 0.000090537, 0.983729, 0.4329510, 0.238081
_TOP = 0.98  # largest value of f that is inverted; its limit is 1 / c
_FLOAT, _UINT16, _UINT32 = 5126, 5123, 5125  # component types of glTF
_BRIGHTEST = 3.0  # largest linear color that the file can have


def undo_tone_mapping(colors: Colors) -> Colors:
    """Returns linear colors >= 0, (n, 3), that appear as sRGB colors on the screen; they may exceed 1."""
    curved = np.clip(to_linear(colors) @ np.linalg.inv(_OUTPUT).T, 0, _TOP)
    # (1 - c y) v^2 + (a - d y) v - (b + e y) = 0 has one root that is not negative.
    p, q, r = 1 - _C * curved, _A - _D * curved, _B + _E * curved
    value = (-q + np.sqrt(q * q + 4 * p * r)) / (2 * p)
    return np.maximum(value @ np.linalg.inv(_INPUT).T / _EXPOSURE, 0)


def apply_tone_mapping(linear: Colors) -> Colors:
    """Returns the sRGB colors on the screen of linear colors, (n, 3)."""
    v = linear @ _INPUT.T * _EXPOSURE
    curved = (v * (v + _A) - _B) / (v * (_C * v + _D) + _E)
    return to_srgb(np.clip(curved @ _OUTPUT.T, 0, 1))


def to_linear(srgb: Colors) -> Colors:
    """Converts sRGB values to linear ones."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def to_srgb(linear: Colors) -> Colors:
    """Converts linear values to sRGB ones."""
    return np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055
    )


@dataclass(frozen=True)
class ColoredMesh:
    """Triangles (m, 3) of vertices [m] with sRGB colors in [0, 1], (n, 3) each."""

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
            {"bufferView": 2, "componentType": _UINT32, "count": len(indices), "type": "SCALAR"},
        ],
    }
    return pack_glb(document, b"".join(parts))


# ---- The container of binary glTF (GLB): a JSON document and binary data -------------------------

_HEAD = struct.Struct("<4sII")
_CHUNK = struct.Struct("<I4s")


def pack_glb(document: dict[str, Any], binary: bytes) -> bytes:
    """Joins a document and its binary data."""
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = _CHUNK.pack(len(text), b"JSON") + text + _CHUNK.pack(len(binary), b"BIN\0") + binary
    return _HEAD.pack(b"glTF", 2, _HEAD.size + len(chunks)) + chunks


def unpack_glb(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Returns the document and the binary data of a GLB."""
    size, _ = _CHUNK.unpack_from(data, _HEAD.size)
    begin = _HEAD.size + _CHUNK.size
    document = json.loads(data[begin : begin + size])
    return document, data[begin + size + _CHUNK.size :]


def make_matte(data: bytes) -> bytes:
    """Gives a GLB matte materials; glTF's default is metal, which is black without an environment."""
    pbr = {"metallicFactor": 0, "roughnessFactor": 0.8}
    return _change_materials(data, {"pbrMetallicRoughness": pbr})


def make_translucent(data: bytes) -> bytes:
    """Gives the meshes of a GLB materials that need no lights, and respect the opacity of colors."""
    unlit: dict[str, Any] = {"KHR_materials_unlit": {}}
    return _change_materials(data, {"alphaMode": "BLEND", "extensions": unlit})


def _change_materials(data: bytes, changes: dict[str, Any]) -> bytes:
    """Updates all materials of a GLB. Meshes without a material get one."""
    document, binary = unpack_glb(data)
    materials = document.setdefault("materials", [])
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            if "material" not in primitive:
                primitive["material"] = len(materials)
                materials.append({})
    for material in materials:
        for name, value in changes.items():
            if isinstance(value, dict):
                material.setdefault(name, {}).update(value)
            else:
                material[name] = value
    if extensions := changes.get("extensions"):
        used = document.setdefault("extensionsUsed", [])
        used += [name for name in extensions if name not in used]
    return pack_glb(document, binary)
