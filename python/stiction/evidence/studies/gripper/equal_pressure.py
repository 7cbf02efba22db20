"""The surface of equal pressure between two bodies: figures 2 and 3 of [masterjohn2022]."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from numpy.typing import NDArray

import stiction
from stiction.evidence.studies.checks import Checks
from stiction.tables.plots import make_plot
from stiction.tables.triangulation import triangulate_polygons
from stiction.view.cut import cut_mesh

# ---- Two spheres, of which one is free: the bodies of figures 2 to 4 of [masterjohn2022] ---------

RADIUS = 0.1  # of both spheres [m]
FIXED, FREE = "fixed", "free"  # names of the geoms
_MODEL = f"""
<mujoco model="spheres">
  <worldbody>
    <geom name="{FIXED}" type="sphere" size="{RADIUS}"/>
    <body><freejoint/><geom name="{FREE}" type="sphere" size="{RADIUS}"/></body>
  </worldbody>
</mujoco>"""


@functools.cache
def load_spheres() -> mujoco.MjModel:
    """Returns the model of both spheres. The pose of the free one is `qpos`."""
    return mujoco.MjModel.from_xml_string(_MODEL)


def make_surfaces(
    moduli: Mapping[str, float], resolution: float, **options: Any
) -> stiction.ContactSurfaces:
    """Makes the contact surfaces of the spheres, both compliant."""
    materials = {
        name: {"hydroelastic_modulus": modulus, "resolution_hint": resolution}
        for name, modulus in moduli.items()
    }
    properties = {"materials": materials, "geoms": {name: name for name in moduli}}
    return stiction.ContactSurfaces(load_spheres(), properties, **options)


_DISTANCE = 0.16  # of the centers of both spheres [m]
_MODULI = {FIXED: 1e5, FREE: 5e4}  # [Pa]
_NAMES = {FIXED: "soft", FREE: "softer"}
_NORMAL = np.array([0.0, 1.0, 0.0])  # of the plane that is drawn
_OFFSET = 1e-4  # of the plane from the centers, so that it meets no vertex [m]


def draw_equal_pressure() -> Figure:
    """Draws a cut through the fields of two overlapping spheres, and the surface between them.
    The contact surface is where the pressures of both fields are equal. It bends towards the
    softer sphere."""
    surfaces = make_surfaces(_MODULI, 0.03)
    data = mujoco.MjData(load_spheres())
    data.qpos[0] = _DISTANCE
    (patch,) = surfaces.calc(data)
    figure, panels = make_plot(3, height=3.4)
    norm = Normalize(0, 1e-3 * max(_MODULI.values()))
    for axes, shown in zip(panels, ((FIXED,), (FREE,), (FIXED, FREE)), strict=True):
        for name in shown:
            _draw_field(axes, surfaces, data, name, norm, alpha=1.0 if len(shown) == 1 else 0.4)
        lines = LineCollection(_cut_faces(patch), color="crimson", lw=2.2)
        axes.add_collection(lines)
        axes.grid(visible=False)
        axes.set_aspect("equal")
        axes.autoscale_view()
        axes.set_xlabel("x [mm]")
        axes.set_title(
            " and ".join(f"{_NAMES[name]}: {1e-3 * _MODULI[name]:g} kPa" for name in shown)
        )
    panels[0].set_ylabel("z [mm]")
    figure.colorbar(
        panels[0].collections[0], ax=panels, label="pressure of the field [kPa]", shrink=0.8
    )
    return figure


def _draw_field(
    axes: Axes,
    surfaces: stiction.ContactSurfaces,
    data: mujoco.MjData,
    geom: str,
    norm: Normalize,
    alpha: float,
) -> None:
    field = surfaces.find_field(geom)
    assert field is not None
    vertices, pressure, starts = cut_mesh(field, _NORMAL, _OFFSET)
    places = 1e3 * (vertices + data.geom(geom).xpos)[:, [0, 2]]
    triangles = triangulate_polygons(starts)
    x, z = places.T
    axes.tripcolor(
        x, z, 1e-3 * pressure, triangles=triangles, shading="gouraud", cmap="viridis", norm=norm,
        alpha=alpha,
    )  # fmt: skip
    edges = PolyCollection(np.split(places, starts[1:-1]), facecolor="none", edgecolor="w", lw=0.1)
    axes.add_collection(edges)


def _cut_faces(patch: stiction.ContactPatch) -> list[np.ndarray]:
    """Returns where the faces of a patch meet the plane, as segments, (2, 2) each [mm]."""
    segments = []
    for first, last in zip(patch.faces[:-1], patch.faces[1:], strict=True):
        corners = patch.vertices[first:last]
        height = corners @ _NORMAL - _OFFSET
        following = np.roll(np.arange(last - first), -1)
        crossed = np.flatnonzero(height * height[following] < 0)
        if len(crossed) == 2:
            ends = following[crossed]
            share = (height[crossed] / (height[crossed] - height[ends]))[:, None]
            points = (1 - share) * corners[crossed] + share * corners[ends]
            segments.append(1e3 * points[:, [0, 2]])
    return segments


# ---- Two tetrahedra and the polygon that they share: figure 3 ------------------------------------

Vector = NDArray[np.float64]

# Both pressures are linear, so they are equal on a plane. The polygon of the contact surface is the part
# of this plane that both tetrahedra contain, with at most eight sides.

# The pose of the second sphere, chosen among 4000 random ones for a round polygon with seven sides.
_CENTER = (0.1, 0.008, 0.037)  # [m]
_TURN = (0.27, -0.84, -0.29, 0.36)  # a quaternion without its length
_VIEW = {"elev": 28, "azim": -35}  # direction from which one looks [degrees]
_SHARED_MODULI = {FIXED: 1e5, FREE: 6e4}  # [Pa]
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
    surfaces = make_surfaces(_SHARED_MODULI, 0.08)
    data = mujoco.MjData(load_spheres())
    data.qpos[:3] = _CENTER
    data.qpos[3:] = np.divide(_TURN, np.linalg.norm(_TURN))
    (patch,) = surfaces.calc(data)
    polygons = np.split(patch.vertices, patch.faces[1:-1])
    polygon = max(polygons, key=lambda each: (len(each), _find_shortest_side(each)))
    found = {name: _find_tet(surfaces, data, name, polygon.mean(axis=0)) for name in _SHARED_MODULI}
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
    one, other = (shared.find_pressures(name) for name in _SHARED_MODULI)
    outside = max(-float(shared.find_shares(name).min()) for name in _SHARED_MODULI)
    checks = Checks()
    what = "difference of the pressures on a polygon, relative to the smaller modulus"
    source = "fig. 3: the equilibrium plane"
    value = float(np.max(np.abs(one - other))) / min(_SHARED_MODULI.values())
    checks.at_most(what, value, 1e-12, source)
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
