"""The container of binary glTF (GLB): a JSON document and binary data."""

from __future__ import annotations

import json
import struct
from typing import Any

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
    """Gives the meshes of a GLB matte materials.

    The default of glTF is metal, which is black without an environment that it mirrors.
    """
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
