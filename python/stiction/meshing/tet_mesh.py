"""Tet meshes with their fields."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import stiction._core as _core
from stiction.errors import Error
from stiction.meshing.surface_file import Surface


@dataclass
class TetMesh:
    """A solid of tetrahedra.

    vertices: [m], (num_vertices, 3).
    tets: vertices of each, (num_tets, 4), int32.
    field_kind: none, extent [-] or pressure [Pa].
    field: of each vertex, empty if there is none.
    """

    vertices: np.ndarray
    tets: np.ndarray
    field_kind: str = "none"
    field: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def read(path: Path) -> TetMesh:
        """Reads a VTK legacy file; its shapes are not checked.

        Raises:
            Error: with file and line.
        """
        return TetMesh(*_core.read_tet_mesh(str(path)))

    def write(self, path: Path) -> None:
        """Writes a VTK 4.2 ASCII file that is read as the same numbers."""
        _core.write_tet_mesh(str(path), self.vertices, self.tets, self.field_kind, self.field)

    def check(self, where: str) -> None:
        """Raises Error with the first faults, by element: flat, inverted, nothing inside, ..."""
        _core.check_tet_mesh(self.vertices, self.tets, where)

    def set_field(self, modulus: float | None) -> None:
        """A field by the distance to the boundary: the extent, or times the modulus [Pa] a pressure.
        A field that the mesh has stays, but an extent becomes a pressure by the modulus.
        """
        if self.field_kind == "none":
            self.field_kind, self.field = "extent", _core.calc_extent(self.vertices, self.tets)
        if modulus is not None:
            if self.field_kind == "pressure":
                raise Error("invalid_value", "modulus", "the mesh has a pressure of its own")
            self.field_kind, self.field = "pressure", modulus * self.field


def tetrahedralize(surface: Surface, edge_length: float | None = None) -> TetMesh:
    """A mesh within a thousandth of the surface's bounding box from it, by fTetWild: also of a
    surface with holes or triangles that cut each other, which it closes.

    Args:
        surface: whose inside is wanted.
        edge_length: that the tets should have at most [m], half of the bounding box's diagonal where
            that is less; a tenth of the diagonal if None.

    Raises:
        Error: pytetwild is not there, or makes no mesh.
    """
    try:
        import pytetwild
    except ImportError as e:
        raise Error(
            "unsupported",
            surface.origin,
            f"meshing a surface needs pytetwild ({e}): pip install 'stiction[mesh]'",
        ) from e
    # In a box of diagonal 1: fTetWild does not end, or crashes, where sizes are near 1e-6 m, or edges
    # longer than the box.
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    diagonal = float(np.linalg.norm(high - low))
    if not diagonal > 0:
        raise Error("invalid_value", surface.origin, "all of its vertices are in one place")
    share = 0.1 if edge_length is None else min(edge_length / diagonal, 0.5)
    try:
        # fTetWild leaves a file in the working directory.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            vertices, tets = pytetwild.tetrahedralize(
                (surface.vertices - low) / diagonal,
                surface.triangles,
                num_threads=1,
                edge_length_fac=share,
            )
    except (RuntimeError, ValueError) as e:
        raise Error("invalid_value", surface.origin, f"fTetWild makes no mesh of it: {e}") from e
    if not len(tets):
        raise Error("invalid_value", surface.origin, "fTetWild finds no inside of it; close it")
    used, tets = np.unique(tets, return_inverse=True)
    vertices, tets = low + diagonal * vertices[used], tets.reshape(-1, 4).astype(np.int32)
    # fTetWild winds tets the other way.
    edges = vertices[tets[:, 1:]] - vertices[tets[:, :1]]
    inverted = np.linalg.det(edges) < 0
    tets[inverted] = tets[inverted][:, [1, 0, 2, 3]]
    return TetMesh(np.ascontiguousarray(vertices, dtype=float), np.ascontiguousarray(tets))
