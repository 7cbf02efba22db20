"""The surface of equal pressure between two bodies: figure 2 of [masterjohn2022]."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import stiction
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
