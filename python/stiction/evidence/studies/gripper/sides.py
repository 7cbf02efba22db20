"""The sides of the polygons of a contact surface: figures 3 and 4 of [masterjohn2022].

A polygon with n sides replaces a fan of n triangles, so the ratio of the numbers of faces is the
mean number of sides. Two tetrahedra share a polygon of at most eight sides. In a surface of F
faces, four edges meet at an inner vertex, where sides of two tetrahedra cross, and three at a
vertex of the rim. By Euler's formula the mean is then 4 - 4/F, plus one side for each corner of the
rim.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.gripper.equal_pressure import (
    FIXED,
    FREE,
    RADIUS,
    load_spheres,
    make_surfaces,
)

Vector = NDArray[np.float64]

_NUM_POSES = 40
_RESOLUTIONS = (0.05, 0.025)  # [m]
_SHOWN = 7  # number of sides of the polygon of figure 4
_MODULI = {FIXED: 1e5, FREE: 1e5}  # [Pa]


@dataclass(frozen=True)
class Sides:
    """The polygons of two compliant spheres in random poses."""

    # Number of polygons by number of sides, for each resolution [m].
    counts: dict[float, Counter[int]]
    num_triangles: dict[float, int]  # number of triangles of the same surfaces, for each resolution
    # Vertices of the roundest polygon with seven sides in its plane, (7, 2) [m], or None.
    shown: Vector | None


def count_sides() -> Sides:
    """Counts the sides of the polygons of all poses, which are the same in every run."""
    counts: dict[float, Counter[int]] = {}
    triangles: dict[float, int] = {}
    shown, roundest = None, 0.0
    for resolution in _RESOLUTIONS:
        rng = np.random.default_rng(0)
        data = mujoco.MjData(load_spheres())
        kinds = ("polygon", "triangle")
        surfaces = [make_surfaces(_MODULI, resolution, tessellation=kind) for kind in kinds]
        counts[resolution], triangles[resolution] = Counter(), 0
        for _ in range(_NUM_POSES):
            _draw_pose(rng, data)
            polygons, fans = (each.calc(data)[0] for each in surfaces)
            sides = np.diff(polygons.faces)
            counts[resolution].update(sides.tolist())
            triangles[resolution] += len(fans.face_area)
            for index in np.flatnonzero(sides == _SHOWN).tolist():
                polygon = _project(polygons, index)
                # A disk has the largest area for its radius.
                round_ = polygons.face_area[index] / np.max(np.sum(polygon**2, axis=1))
                if round_ > roundest:
                    shown, roundest = polygon, round_
    return Sides(counts, triangles, shown)


def _draw_pose(rng: np.random.Generator, data: mujoco.MjData) -> None:
    """Places the free sphere in a random direction, so that it overlaps by up to a radius."""
    direction = rng.normal(size=3)
    distance = rng.uniform(1.0, 1.9) * RADIUS
    turn = rng.normal(size=4)
    data.qpos[:3] = distance * direction / np.linalg.norm(direction)
    data.qpos[3:] = turn / np.linalg.norm(turn)


def _project(patch: stiction.ContactPatch, index: int) -> Vector:
    """Returns the vertices of a face in coordinates of its plane, (n, 2) [m]."""
    first, last = patch.faces[index : index + 2]
    vertices = patch.vertices[first:last] - patch.face_center[index]
    normal = patch.face_normal[index]
    x = vertices[0] - (vertices[0] @ normal) * normal
    x /= np.linalg.norm(x)
    projected: Vector = np.stack([vertices @ x, vertices @ np.cross(normal, x)], axis=-1)
    return projected


def describe_sides(sides: Sides) -> dict[str, Any]:
    """Returns numbers of polygons and their ratios, fit for JSON."""
    return {
        "polygons_by_sides": {h: dict(sorted(of.items())) for h, of in sides.counts.items()},
        "triangles_over_polygons": {
            h: triangles / sides.counts[h].total() for h, triangles in sides.num_triangles.items()
        },
    }


def check_sides(sides: Sides) -> Checks:
    """Checks numbers of sides, and the ratio of the numbers of faces."""
    everything = sum(sides.counts.values(), Counter[int]())
    checks = Checks()
    for resolution, counts in sides.counts.items():
        where = f"spheres of {1e3 * resolution:g} mm"
        num_sides = sum(n * count for n, count in counts.items())
        what = f"number of triangles that are no side of a polygon, {where}"
        source = "fig. 4: a fan has a triangle for each side"
        checks.at_most(what, abs(sides.num_triangles[resolution] - num_sides), 0, source)
        what = f"ratio of triangles to polygons, {where}"
        checks.between(what, num_sides / counts.total(), 3.0, 4.0, "Euler's formula: below 4")
    value = max(everything)
    checks.at_most("largest number of sides, spheres", value, 8, "section III-A: at most 8")
    what = f"number of polygons with {_SHOWN} sides, spheres"
    checks.at_least(what, everything[_SHOWN], 1, "fig. 4: a factor of seven")
    return checks
