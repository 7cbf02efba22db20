"""Contact patches as triangles with the colors of their pressure, for Foxglove's 3D panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

from stiction.recording.format import Vector
from stiction.tables.triangulation import triangulate_polygons

if TYPE_CHECKING:
    from stiction._core import PatchReport
    from stiction.recording.patches import RecordedPatch

_COLORMAP = "viridis"
ENTITY = "contact patches"


@dataclass
class PatchMesh:
    """The faces of all patches of a step.

    Attributes:
        vertices: [m], world, (k, 3).
        pressure: at the vertices [Pa], (k,).
        starts: start of each face in `vertices`, and their number at the end, (faces + 1,).
    """

    vertices: Vector
    pressure: Vector
    starts: NDArray[np.int32]

    def triangles(self) -> NDArray[np.int64]:
        """Returns a fan of triangles for each face, as indices of vertices, (n, 3)."""
        return triangulate_polygons(self.starts)


def join_report(patches: PatchReport) -> PatchMesh:
    """Returns the faces of a report's patches."""
    return PatchMesh(patches.vertices, patches.vertex_pressure, patches.vertex_start)


def join_recorded(patches: Sequence[RecordedPatch]) -> PatchMesh:
    """Returns the faces of recorded patches."""
    vertices = [patch.vertices["vertices"] for patch in patches]
    pressures = [patch.vertices["vertex_pressure"] for patch in patches]
    counts = [patch.faces["num_vertices"] for patch in patches]
    starts = np.concatenate([[0], *map(np.asarray, counts)]).cumsum().astype(np.int32)
    return PatchMesh(
        np.concatenate([np.zeros((0, 3)), *vertices]),
        np.concatenate([np.zeros(0), *pressures]),
        starts,
    )


def make_patches(fox: Any, time_ns: int, mesh: PatchMesh, scale: float) -> Any:
    """Returns a SceneUpdate that replaces the patches of the moment before.

    Args:
        fox: the module foxglove.messages.
        time_ns: time of the patches [ns].
        mesh: the faces.
        scale: the pressure with the brightest color [Pa].
    """
    share = np.clip(mesh.pressure / scale, 0, 1) if scale > 0 else np.zeros_like(mesh.pressure)
    colors = matplotlib.colormaps[_COLORMAP](share)
    triangles = fox.TriangleListPrimitive(
        points=[fox.Point3(x=x, y=y, z=z) for x, y, z in mesh.vertices.astype(float).tolist()],
        colors=[fox.Color(r=r, g=g, b=b, a=a) for r, g, b, a in colors.tolist()],
        indices=mesh.triangles().ravel().tolist(),
    )
    notes = [fox.KeyValuePair(key="pressure of the brightest color [Pa]", value=f"{scale:.6g}")]
    entity = fox.SceneEntity(
        timestamp=fox.Timestamp(sec=time_ns // 10**9, nsec=time_ns % 10**9),
        frame_id="world",
        id=ENTITY,
        metadata=notes,
        triangles=[triangles],
    )
    return fox.SceneUpdate(entities=[entity])
