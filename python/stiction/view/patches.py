"""Contact patches as triangles colored by pressure."""

from __future__ import annotations

from stiction.tables.triangulation import triangulate_polygons
from stiction.view.colored_mesh import ColoredMesh
from stiction.view.contact_arrays import PatchArrays
from stiction.view.palette import color_pressures


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
