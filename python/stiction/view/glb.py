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


def make_matte(data: bytes, *, is_translucent: bool) -> bytes:
    """Gives the meshes of a GLB matte materials.

    The default of glTF is metal, which is black without an environment that it mirrors, and which
    ignores the opacity of colors.

    Args:
        data: the GLB.
        is_translucent: whether to respect the opacity of the colors.
    """
    document, binary = unpack_glb(data)
    materials = document.setdefault("materials", [])
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            if "material" not in primitive:
                primitive["material"] = len(materials)
                materials.append({})
    for material in materials:
        material.setdefault("pbrMetallicRoughness", {}).update(
            metallicFactor=0, roughnessFactor=0.8
        )
        if is_translucent:
            material["alphaMode"] = "BLEND"
    return pack_glb(document, binary)
