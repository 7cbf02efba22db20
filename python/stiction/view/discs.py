"""Point contacts as discs: one color sticks, another slips, and a third replaces a patch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stiction.view.colored_mesh import ColoredMesh
from stiction.view.contact_arrays import PointArrays
from stiction.view.palette import FALLBACK, SLIP, STICK, parse_color

_CORNERS = 20


def draw_discs(points: PointArrays, radius: float) -> ColoredMesh:
    """Returns a disc at each contact point, normal to the contact.

    A contact of a pair that fell back from a patch to points has a ring around its disc.

    Args:
        points: the contacts.
        radius: radius of a disc [m].
    """
    colors = np.where(points.slipping[:, None], parse_color(SLIP), parse_color(STICK))
    discs = _make_rings(points.point, points.normal, 0, radius, colors)
    fallen = points.is_fallback
    ring = np.tile(parse_color(FALLBACK), (int(fallen.sum()), 1))
    rings = _make_rings(
        points.point[fallen], points.normal[fallen], 1.2 * radius, 1.7 * radius, ring
    )
    return ColoredMesh(
        np.concatenate([discs.vertices, rings.vertices]),
        np.concatenate([discs.triangles, rings.triangles + len(discs.vertices)]),
        np.concatenate([discs.colors, rings.colors]),
    )


def _make_rings(
    centers: NDArray[np.float64],
    normals: NDArray[np.float64],
    inner: float,
    outer: float,
    colors: NDArray[np.float64],
) -> ColoredMesh:
    """Returns flat rings with these radii [m] and colors; an inner radius of 0 gives discs."""
    x = np.cross(normals, np.where(np.abs(normals[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    y = np.cross(normals, x)
    angle = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    around = x[:, None] * np.cos(angle)[:, None] + y[:, None] * np.sin(angle)[:, None]
    rims = np.stack([inner * around, outer * around], axis=1) + centers[:, None, None]
    i = np.arange(_CORNERS)
    j = (i + 1) % _CORNERS
    quads = np.concatenate(
        [np.stack([i, i + _CORNERS, j + _CORNERS], 1), np.stack([i, j + _CORNERS, j], 1)]
    )
    shift = 2 * _CORNERS * np.arange(len(centers))[:, None, None]
    return ColoredMesh(
        rims.reshape(-1, 3),
        (quads + shift).reshape(-1, 3),
        np.repeat(colors, 2 * _CORNERS, axis=0),
    )
