"""Small spheres with which bodies touch planes and boxes in Drake.

Point contact of Drake has one point per pair of geometries. So boxes and cylinders touch with spheres at
their corners and rims, as in Drake's own examples of boxes.
"""

from __future__ import annotations

import math

from stiction.evidence.engines.rotations import Vec

RADIUS = 1e-4  # of the spheres [m]
_RIM_SPHERES = 16


def list_corners(kind: str, size: Vec) -> list[Vec]:
    """Returns the centers of spheres that are flush with the faces of a box, or with the ends of a
    cylinder [m]; none for other shapes.

    Args:
        kind: as in world.Geom.
        size: half lengths of a box; radius and half length of a cylinder [m].
    """
    inner = [s - RADIUS for s in size]
    if kind == "box":
        x, y, z = inner
        return [(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    if kind == "cylinder":
        radius, half = inner
        angles = [2 * math.pi * i / _RIM_SPHERES for i in range(_RIM_SPHERES)]
        return [
            (radius * math.cos(a), radius * math.sin(a), k * half) for a in angles for k in (-1, 1)
        ]
    return []
