"""Reads surfaces of triangles from OBJ and STL files."""

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
    """A surface of triangles, which are counterclockwise when seen from outside.

    Attributes:
        vertices: positions [m], (num_vertices, 3).
        triangles: indices of the vertices of each triangle, int32 (num_triangles, 3).
        origin: the file of the surface, for messages.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    origin: str = ""

    def find_fault(self) -> str:
        """Returns the reason why the surface does not enclose a volume, or '' if it does."""
        try:
            check_triangle_mesh(self.vertices, self.triangles, "")
        except Error as e:
            return str(e)
        return ""

    def calc_volume(self) -> float:
        """Returns the enclosed volume [m^3]. It is meaningful only if find_fault() returns ''."""
        corners = self.vertices[self.triangles] - self.vertices.mean(axis=0)
        a, b, c = np.moveaxis(corners, 1, 0)
        return float(np.einsum("ij,ij->", np.cross(a, b), c) / 6)


def read_surface(path: Path) -> Surface:
    """Reads a Wavefront OBJ file or a binary or ASCII STL file, with coordinates in meters.

    Polygons are split into fans of triangles. Vertices at equal positions are merged: STL repeats a
    vertex for each triangle, and OBJ along seams of textures. Triangles that are left with fewer
    than three different vertices are dropped.

    Raises:
        Error: the file does not exist, has no triangles, or has an invalid number or index. The
            error has the file and, where known, the line.
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
            raise Error("syntax", where, f"expected numbers, found '{line.strip()[:40]}'") from e
        # Indices start at 1; negative ones count backwards from the last vertex so far.
        polygon = [i - 1 if i > 0 else len(vertices) + i for i in polygon]
        if len(polygon) < 3:
            raise Error(
                "syntax", where, f"a face has {len(polygon)} vertices; it must have 3 or more"
            )
        if not all(0 <= i < len(vertices) for i in polygon):
            raise Error(
                "invalid_value",
                where,
                f"a face refers to a vertex that does not exist; there are {len(vertices)} so far",
            )
        triangles += [(polygon[0], b, c) for b, c in itertools.pairwise(polygon[1:])]
    return np.array(vertices).reshape(-1, 3), np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _parse_stl(content: bytes, origin: str) -> tuple[np.ndarray, np.ndarray]:
    # A binary file may begin with "solid", too, so its size decides.
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    count = int.from_bytes(content[80:84], "little")
    if len(content) >= 84 and len(content) == 84 + count * record.itemsize:
        corners = np.frombuffer(content, record, count, 84)["corners"].astype(float)
        return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)
    if not content.lstrip().startswith(b"solid"):
        raise Error(
            "syntax",
            origin,
            f"is not an STL file: it does not begin with 'solid', and it has {len(content)} bytes, "
            f"while a binary file of {count} triangles has {84 + count * record.itemsize}",
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
                "syntax",
                f"{origin}:{number}",
                f"expected 'vertex' and 3 numbers, found '{line.strip()[:40]}'",
            ) from e
        vertices.append([x, y, z])
    if len(vertices) % 3:
        raise Error(
            "syntax", origin, f"has {len(vertices)} vertices, which is not 3 for each triangle"
        )
    return np.array(vertices).reshape(-1, 3), np.arange(len(vertices)).reshape(-1, 3)
