"""Surfaces of triangles from OBJ and STL files."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stiction._core import check_triangle_mesh
from stiction.errors import Error

_MAX_SIZE = 1 << 30  # [bytes]


@dataclass
class Surface:
    """A surface of triangles, counter-clockwise seen from outside.

    Attributes:
        vertices: [m], (num_vertices, 3).
        triangles: indices of the vertices of each triangle, int32 (num_triangles, 3).
        origin: name of the file, for messages.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    origin: str = ""

    def find_fault(self) -> str:
        """Returns why the surface encloses no volume; empty if it encloses one."""
        try:
            check_triangle_mesh(self.vertices, self.triangles, "")
        except Error as e:
            return str(e)
        return ""

    def calc_volume(self) -> float:
        """Returns the volume that a closed surface encloses [m^3]."""
        corners = self.vertices[self.triangles] - self.vertices.mean(axis=0)
        a, b, c = np.moveaxis(corners, 1, 0)
        return float(np.einsum("ij,ij->", np.cross(a, b), c) / 6)


def read_surface(path: Path) -> Surface:
    """Reads a Wavefront OBJ file, or a binary or ASCII STL file, in meters.

    Polygons are cut into fans of triangles. Vertices at the same place become one vertex: an STL file
    repeats each for every triangle, an OBJ file along seams of the texture. Triangles that this
    leaves with fewer than three vertices are dropped.

    Raises:
        Error: there is no such file, it has no surface, or a number is wrong; with file and line.
    """
    if not path.is_file():
        raise Error("file_not_found", str(path), "there is no such surface file")
    if path.stat().st_size > _MAX_SIZE:
        raise Error("unsupported", str(path), "is larger than 1 GiB")
    content = path.read_bytes()
    vertices, triangles = (
        _parse_obj(content, str(path))
        if path.suffix.lower() == ".obj"
        else _parse_stl(content, str(path))
    )
    if not len(triangles):
        raise Error("syntax", str(path), "has no triangles")
    if not np.isfinite(vertices).all():
        index = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
        raise Error("invalid_value", str(path), f"vertex {index} is not finite")
    vertices, place = np.unique(vertices, axis=0, return_inverse=True)
    triangles = place.reshape(-1)[triangles].astype(np.int32)
    a, b, c = triangles.T
    triangles = np.ascontiguousarray(triangles[(a != b) & (b != c) & (c != a)])
    return Surface(vertices, triangles, str(path))


def _parse_obj(content: bytes, origin: str) -> tuple[np.ndarray, np.ndarray]:
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    text = content.decode("utf-8", "replace").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words or words[0] not in ("v", "f"):
            continue
        where = f"{origin}:{number}"
        try:
            if words[0] == "v":
                x, y, z = (float(word) for word in words[1:4])
                vertices.append([x, y, z])
                continue
            polygon = [int(word.split("/", 1)[0]) for word in words[1:]]
        except ValueError as e:
            raise Error("syntax", where, f"'{line.strip()[:40]}' is not of numbers") from e
        # From 1, or backwards from the last vertex so far.
        polygon = [i - 1 if i > 0 else len(vertices) + i for i in polygon]
        if len(polygon) < 3:
            raise Error("syntax", where, f"a face has {len(polygon)} vertices, must have 3 or more")
        if not all(0 <= i < len(vertices) for i in polygon):
            raise Error(
                "invalid_value", where, f"a face has a vertex that none of the {len(vertices)} is"
            )
        triangles += [(polygon[0], b, c) for b, c in itertools.pairwise(polygon[1:])]
    return np.array(vertices).reshape(-1, 3), np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _parse_stl(content: bytes, origin: str) -> tuple[np.ndarray, np.ndarray]:
    # A binary file may begin with "solid", too: its size tells.
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    count = int.from_bytes(content[80:84], "little")
    if len(content) >= 84 and len(content) == 84 + count * record.itemsize:
        corners = np.frombuffer(content, record, count, 84)["corners"].astype(float)
        return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)
    if not content.lstrip().startswith(b"solid"):
        raise Error(
            "syntax",
            origin,
            f"is no STL file: it does not begin with 'solid', and has {len(content)} bytes, a "
            f"binary file of {count} triangles has {84 + count * record.itemsize}",
        )
    vertices = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if not words or words[0].lower() != "vertex":
            continue
        try:
            x, y, z = (float(word) for word in words[1:])
        except ValueError as e:
            raise Error(
                "syntax", f"{origin}:{number}", f"'{line.strip()[:40]}' is not of 3 numbers"
            ) from e
        vertices.append([x, y, z])
    if len(vertices) % 3:
        raise Error("syntax", origin, f"has {len(vertices)} vertices, not 3 for each triangle")
    return np.array(vertices).reshape(-1, 3), np.arange(len(vertices)).reshape(-1, 3)
