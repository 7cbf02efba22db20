"""Two tetrahedra and the polygon that they share: figure 3 of [masterjohn2022].

Both pressures are linear, so they are equal on a plane. The polygon of the contact surface is the part
of this plane that both tetrahedra contain, with at most eight sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import mujoco
import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from numpy.typing import NDArray

import stiction
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.gripper.equal_pressure import (
    FIXED,
    FREE,
    load_spheres,
    make_surfaces,
)

Vector = NDArray[np.float64]

# The pose of the second sphere, chosen among 4000 random ones for a round polygon with seven sides.
_CENTER = (0.1, 0.008, 0.037)  # [m]
_TURN = (0.27, -0.84, -0.29, 0.36)  # a quaternion without its length
_VIEW = {"elev": 28, "azim": -35}  # direction from which one looks [degrees]
_MODULI = {FIXED: 1e5, FREE: 6e4}  # [Pa]
_COLORS = {FIXED: "#2f7fd0", FREE: "#e08a00"}


@dataclass(frozen=True)
class Shared:
    """A polygon of a contact surface and the two tetrahedra that share it."""

    polygon: Vector  # corners of the polygon, (n, 3) [m]
    corners: dict[str, Vector]  # corners of the tetrahedron of each body, (4, 3) [m]
    pressures: dict[str, Vector]  # pressures at the corners of each tetrahedron, (4,) [Pa]

    def find_shares(self, name: str) -> Vector:
        """Returns the barycentric coordinates of the polygon in a tetrahedron, (n, 4)."""
        system = np.vstack([self.corners[name].T, np.ones(4)])
        points = np.vstack([self.polygon.T, np.ones(len(self.polygon))])
        shares: Vector = np.linalg.solve(system, points).T
        return shares

    def find_pressures(self, name: str) -> Vector:
        """Returns the pressures of a field at the corners of the polygon, (n,) [Pa]."""
        pressures: Vector = self.find_shares(name) @ self.pressures[name]
        return pressures


def find_shared() -> Shared:
    """Finds the polygon between two spheres that has the most sides and the longest shortest side."""
    surfaces = make_surfaces(_MODULI, 0.08)
    data = mujoco.MjData(load_spheres())
    data.qpos[:3] = _CENTER
    data.qpos[3:] = np.divide(_TURN, np.linalg.norm(_TURN))
    (patch,) = surfaces.calc(data)
    polygons = np.split(patch.vertices, patch.faces[1:-1])
    polygon = max(polygons, key=lambda each: (len(each), _find_shortest_side(each)))
    found = {name: _find_tet(surfaces, data, name, polygon.mean(axis=0)) for name in _MODULI}
    return Shared(
        polygon,
        {name: corners for name, (corners, _) in found.items()},
        {name: pressures for name, (_, pressures) in found.items()},
    )


def _find_shortest_side(polygon: Vector) -> float:
    return float(np.min(np.linalg.norm(polygon - np.roll(polygon, 1, axis=0), axis=1)))


def _find_tet(
    surfaces: stiction.ContactSurfaces, data: mujoco.MjData, geom: str, point: Vector
) -> tuple[Vector, Vector]:
    """Returns corners and pressures of the tetrahedron of a field that contains a point."""
    field = surfaces.find_field(geom)
    assert field is not None and field.field is not None
    rotation = data.geom(geom).xmat.reshape(3, 3)
    corners = (field.vertices @ rotation.T + data.geom(geom).xpos)[field.tets]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    shares = np.linalg.solve(edges, (point - corners[:, 0])[:, :, None])[:, :, 0]
    lowest = np.minimum(shares.min(axis=1), 1 - shares.sum(axis=1))
    inside = int(np.argmax(lowest))
    return corners[inside], np.asarray(field.field)[field.tets[inside]]


def check_shared(shared: Shared) -> Checks:
    """Checks that the polygon lies in both tetrahedra, and that the pressures are equal on it."""
    one, other = (shared.find_pressures(name) for name in _MODULI)
    outside = max(-float(shared.find_shares(name).min()) for name in _MODULI)
    checks = Checks()
    what = "difference of the pressures on a polygon, relative to the smaller modulus"
    source = "fig. 3: the equilibrium plane"
    checks.at_most(what, float(np.max(np.abs(one - other))) / min(_MODULI.values()), 1e-12, source)
    what = "share by which a polygon reaches out of its tetrahedra"
    checks.at_most(what, outside, 1e-9, "fig. 3: the intersection")
    return checks


def draw_shared(shared: Shared) -> Figure:
    """Draws both tetrahedra, the plane of equal pressure, and the polygon."""
    figure = Figure(figsize=(9.2, 3.2))
    figure.set_layout_engine("constrained")
    sides = f"the polygon has {len(shared.polygon)} sides"
    titles = ("two tetrahedra", "the plane of equal pressure", sides)
    for i, title in enumerate(titles):
        axes = figure.add_subplot(1, 3, i + 1, projection="3d", computed_zorder=False)
        for name, corners in shared.corners.items():
            edges = [1e3 * corners[[a, b]] for a, b in combinations(range(4), 2)]
            axes.add_collection3d(Line3DCollection(edges, colors=_COLORS[name], linewidths=1.6))
            faces = [1e3 * corners[list(face)] for face in combinations(range(4), 3)]
            axes.add_collection3d(Poly3DCollection(faces, facecolors=_COLORS[name], alpha=0.07))
        if i == 1:
            _add_polygon(axes, _find_square(shared), "0.5", alpha=0.35)
        if i > 0:
            _add_polygon(axes, shared.polygon, "crimson", alpha=0.9, edgecolors="k")
        axes.view_init(**_VIEW)
        _fit_box(axes, np.vstack(list(shared.corners.values())))
        axes.set_axis_off()
        # A title above the axes would be cut off, because the zoom draws over their edges.
        axes.text2D(0.5, 0.98, title, fontsize=10, ha="center", va="top", transform=axes.transAxes)
    return figure


def _add_polygon(axes: Any, corners: Vector, color: str, **style: Any) -> None:
    axes.add_collection3d(Poly3DCollection([1e3 * corners], facecolors=color, **style))


def _find_square(shared: Shared) -> Vector:
    """Returns the corners of a square in the plane of the polygon, (4, 3) [m]."""
    center = shared.polygon.mean(axis=0)
    first, second, _ = np.linalg.svd(shared.polygon - center)[2]
    half = 1.3 * np.max(np.linalg.norm(shared.polygon - center, axis=1))
    signs = ((-1, -1), (-1, 1), (1, 1), (1, -1))
    return np.array([center + half * (x * first + y * second) for x, y in signs])


def _fit_box(axes: Any, points: Vector) -> None:
    low, high = 1e3 * points.min(axis=0), 1e3 * points.max(axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=1.35)
