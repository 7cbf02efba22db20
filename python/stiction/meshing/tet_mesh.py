"""Tetrahedral meshes for pressure fields, and the report on one."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import stiction._core as _core
from stiction.errors import Error
from stiction.meshing.surface_file import Surface

_TYPICAL_TIME_STEP = 2e-3  # MuJoCo's default [s]
POOR_QUALITY = 0.05  # 1 is a regular tet, and 0 a flat one


@dataclass
class TetMesh:
    """A solid of tetrahedra, with a field over its vertices.

    Attributes:
        vertices: positions [m], (num_vertices, 3).
        tets: indices of the vertices of each tetrahedron, int32 (num_tets, 4).
        field_kind: 'none', 'extent' or 'pressure'.
        field: value at each vertex, (num_vertices,): the extent in [0, 1] [-] or the pressure [Pa];
            empty for the kind 'none'.
    """

    vertices: np.ndarray
    tets: np.ndarray
    field_kind: str = "none"
    field: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def read(path: Path) -> TetMesh:
        """Reads a VTK legacy file, without the checks of check().

        Raises:
            Error: the file cannot be read, or its content is wrong; the error has the file and line.
        """
        return TetMesh(*_core.read_tet_mesh(str(path)))

    def write(self, path: Path) -> None:
        """Writes a VTK 4.2 ASCII file. Reading it back gives exactly the same numbers."""
        _core.write_tet_mesh(str(path), self.vertices, self.tets, self.field_kind, self.field)

    def check(self, where: str) -> None:
        """Checks that the mesh can carry a pressure field.

        Args:
            where: name of the mesh in messages.

        Raises:
            Error: a tetrahedron is flat or inverted, or no vertex lies inside, for example; the
                message has the first faults with their elements.
        """
        _core.check_tet_mesh(self.vertices, self.tets, where)

    def set_field(self, modulus: float | None) -> None:
        """Gives the mesh a field if it has none, and makes the field a pressure if asked to.

        A new field is the extent: the distance to the boundary, divided by its largest value. With a
        modulus, an extent becomes the pressure modulus * extent.

        Args:
            modulus: hydroelastic modulus [Pa], or None to keep the extent.

        Raises:
            Error: a modulus is given, but the mesh already has a pressure field.
        """
        if self.field_kind == "none":
            self.field_kind, self.field = "extent", _core.calc_extent(self.vertices, self.tets)
        if modulus is not None:
            if self.field_kind == "pressure":
                raise Error(
                    "invalid_value",
                    "modulus",
                    "the mesh already has a pressure field; leave the modulus out",
                )
            self.field_kind, self.field = "pressure", modulus * self.field


def tetrahedralize(surface: Surface, edge_length: float | None = None) -> TetMesh:
    """Makes a tetrahedral mesh of the inside of a surface with fTetWild.

    The boundary of the mesh is within a thousandth of the bounding box's diagonal from the surface.
    fTetWild closes holes and resolves triangles that intersect each other.

    Args:
        surface: the surface to fill.
        edge_length: edge length that the tetrahedra should have at most [m]. It is limited to half
            the diagonal of the bounding box; None means a tenth of the diagonal.

    Raises:
        Error: pytetwild is not installed, or makes no mesh.
    """
    try:
        import pytetwild
    except ImportError as e:
        raise Error(
            "unsupported",
            surface.origin,
            f"meshing a surface needs pytetwild ({e}); run pip install 'stiction[mesh]'",
        ) from e
    # Scale the bounding box to a diagonal of 1. fTetWild crashes or does not terminate if sizes are
    # near 1e-6 m, or if edges are longer than the box.
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    diagonal = float(np.linalg.norm(high - low))
    if not diagonal > 0:
        raise Error("invalid_value", surface.origin, "all vertices have the same position")
    share = 0.1 if edge_length is None else min(edge_length / diagonal, 0.5)
    try:
        # fTetWild leaves a file in the working directory, so run it in a temporary one.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            vertices, tets = pytetwild.tetrahedralize(
                (surface.vertices - low) / diagonal,
                surface.triangles,
                num_threads=1,
                edge_length_fac=share,
            )
    except (RuntimeError, ValueError) as e:
        raise Error(
            "invalid_value", surface.origin, f"fTetWild cannot mesh the surface: {e}"
        ) from e
    if not len(tets):
        raise Error(
            "invalid_value",
            surface.origin,
            "fTetWild finds no volume inside the surface; close its holes",
        )
    used, tets = np.unique(tets, return_inverse=True)
    vertices, tets = low + diagonal * vertices[used], tets.reshape(-1, 4).astype(np.int32)
    # fTetWild orders the vertices of a tet the other way round.
    edges = vertices[tets[:, 1:]] - vertices[tets[:, :1]]
    inverted = np.linalg.det(edges) < 0
    tets[inverted] = tets[inverted][:, [1, 0, 2, 3]]
    return TetMesh(np.ascontiguousarray(vertices, dtype=float), np.ascontiguousarray(tets))


def make_report(mesh: TetMesh, surface: Surface | None = None) -> dict[str, Any]:
    """Makes the report of `stiction mesh`.

    Args:
        mesh: a mesh that passed its check and has a field.
        surface: the surface that the mesh was made from, if any.

    Returns:
        A dict fit for JSON, in SI units: the counts of elements; `min_quality` in (0, 1] and
        `worst_tet`; `volume`; `greatest_distance` of a vertex from the boundary; `speed_limit`,
        above which another body can pass the deepest points within a step of 2 ms; kind and range
        of the `field`; `warnings`; and for a surface `is_watertight` with its `volume`, or with its
        `fault`.
    """
    report: dict[str, Any] = {**_core.summarize_tet_mesh(mesh.vertices, mesh.tets)}
    report["greatest_distance"] = report["thickness"] / 2
    report["speed_limit"] = report["greatest_distance"] / _TYPICAL_TIME_STEP
    report["field"] = {
        "kind": mesh.field_kind,
        "min": float(mesh.field.min()),
        "max": float(mesh.field.max()),
    }
    report["surface"] = None
    if surface is not None:
        fault = surface.find_fault()
        report["surface"] = {
            "num_triangles": len(surface.triangles),
            "is_watertight": not fault,
            "fault": fault or None,
            "volume": None if fault else surface.calc_volume(),
        }
    report["warnings"] = _find_warnings(report)
    return report


def _find_warnings(report: dict[str, Any]) -> list[str]:
    warnings = []
    if report["surface"] and not report["surface"]["is_watertight"]:
        warnings.append(
            "the surface is not watertight, so its inside had to be guessed; look at the mesh, or "
            "close the surface"
        )
    if report["min_quality"] < POOR_QUALITY:
        warnings.append(
            f"tet {report['worst_tet']} has a quality of {report['min_quality']:.2g}; the pressure "
            "changes steeply in such flat tets"
        )
    if count := report["num_tets_on_boundary"]:
        warnings.append(
            f"{count} of {report['num_tets']} tets have all vertices on the boundary and so no "
            "pressure; contact begins only below them; a smaller --edge-length makes them thinner"
        )
    return warnings
