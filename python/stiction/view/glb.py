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


def blend_colors(data: bytes) -> bytes:
    """Makes a GLB respect the opacity of its vertices' colors, which glTF ignores by default."""
    document, binary = unpack_glb(data)
    materials = document.setdefault("materials", [])
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            if "material" not in primitive:
                primitive["material"] = len(materials)
                materials.append({"pbrMetallicRoughness": {"metallicFactor": 0.1}})
    for material in materials:
        material["alphaMode"] = "BLEND"
    return pack_glb(document, binary)
