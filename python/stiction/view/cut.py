"""Contact patches, and cuts through tetrahedral meshes, colored by pressure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.meshing.tet_mesh import TetMesh
from stiction.tables.triangulation import triangulate_polygons
from stiction.view.colored_mesh import ColoredMesh, to_glb
from stiction.view.contact_arrays import PatchArrays
from stiction.view.palette import Style, color_pressures

Vector = NDArray[np.float64]

_EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
# The edges that the plane cuts, in order around the cut, by the bits of the vertices above it.
_CUTS: dict[int, tuple[int, ...]] = {
    1: (0, 1, 2), 2: (0, 3, 4), 4: (1, 3, 5), 8: (2, 4, 5),
    3: (1, 2, 4, 3), 5: (0, 2, 5, 3), 6: (0, 1, 5, 4),
}  # fmt: skip
_CUTS |= {15 - bits: edges for bits, edges in _CUTS.items()}


def draw_patches(patches: PatchArrays, scale: float) -> ColoredMesh:
    """Returns all patches as one mesh, with a color at each vertex up to the pressure `scale` [Pa]."""
    return ColoredMesh(
        patches.vertices,
        triangulate_polygons(patches.starts),
        color_pressures(patches.vertex_pressure, scale),
    )


def find_largest_pressure(patches: PatchArrays) -> float:
    """Returns the largest pressure of some patches; 0 if there are none [Pa]."""
    return float(patches.vertex_pressure.max(initial=0))


class Cut:
    """The cut through a geom; `top` is the field of the last color [Pa], None if no cut is shown."""

    def __init__(self, server: Any, name: str, fields: Mapping[int, TetMesh]) -> None:
        self._server = server
        self._name = name
        self._fields = fields
        self._node: Any = None
        self.top: float | None = None
        self._drawn: tuple[int | None, int, float] = (None, 0, 0.0)

    def show(self, style: Style, data: mujoco.MjData) -> None:
        """Draws the cut that the style names at the pose of the geom."""
        wanted = (style.cut_geom, style.cut_axis, style.cut_place)
        if wanted != self._drawn:
            self._drawn = wanted
            self._draw(*wanted)
        if self._node is not None and style.cut_geom is not None:
            wxyz = np.empty(4)
            mujoco.mju_mat2Quat(wxyz, data.geom_xmat[style.cut_geom])
            self._node.position, self._node.wxyz = data.geom_xpos[style.cut_geom], wxyz

    def _draw(self, geom: int | None, axis: int, place: float) -> None:
        mesh = None if geom is None else self._fields.get(geom)
        if self._node is not None:
            self._node.remove()
            self._node = None
        self.top = None
        if mesh is None:
            return
        normal = np.eye(3)[axis]
        heights = mesh.vertices @ normal
        low, high = float(heights.min()), float(heights.max())
        offset = low + (0.5 + 0.4999 * place) * (high - low)
        top = float(mesh.field.max())
        triangles = draw_cut(mesh, normal, offset, top)
        if not triangles.is_empty:
            self.top = top
            self._node = self._server.scene.add_glb(
                self._name, to_glb(triangles), cast_shadow=False, receive_shadow=False
            )


def cut_mesh(
    mesh: TetMesh, normal: Vector, offset: float
) -> tuple[Vector, Vector, NDArray[np.int64]]:
    """Cuts a mesh with the plane normal . x = offset [m].

    Returns vertices of the polygons [m], (k, 3); the field there, (k,); and the starts of the polygons,
    (n + 1,), one polygon for each tetrahedron that is cut.
    """
    height = mesh.vertices @ normal - offset
    bits = (height[mesh.tets] > 0) @ np.array([1, 2, 4, 8])
    vertices, values, counts = [], [], []
    for code, edges in _CUTS.items():
        tets = mesh.tets[bits == code]
        ends = tets[:, _EDGES[list(edges)]]  # (tets, edges, 2)
        first, last = height[ends[..., 0]], height[ends[..., 1]]
        share = first / (first - last)  # the signs differ, so the difference is not 0
        vertices.append(_interpolate(mesh.vertices, ends, share[..., None]).reshape(-1, 3))
        values.append(_interpolate(mesh.field, ends, share).ravel())
        counts.append(np.full(len(tets), len(edges)))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return np.concatenate(vertices), np.concatenate(values), starts


def draw_cut(mesh: TetMesh, normal: Vector, offset: float, scale: float) -> ColoredMesh:
    """Returns the cut of cut_mesh as triangles in the frame of the mesh; `scale` has the last color."""
    vertices, values, starts = cut_mesh(mesh, normal, offset)
    return ColoredMesh(vertices, triangulate_polygons(starts), color_pressures(values, scale))


def _interpolate(values: Vector, ends: NDArray[np.int32], share: Vector) -> Vector:
    first, last = values[ends[..., 0]], values[ends[..., 1]]
    return np.asarray((1 - share) * first + share * last)


# ---- The choice of a cut through the tetrahedra of a geom ----------------------------------------
