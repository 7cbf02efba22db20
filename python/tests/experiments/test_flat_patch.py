"""Tests patches seen along their normals against the patches themselves."""

from __future__ import annotations

import numpy as np
import pytest

import stiction
from stiction.evidence.experiments.spatula import Vector, flatten_patch
from stiction.inputs.package_scenes import find_scene_file


def calc_polygon_area(vertices: Vector) -> float:
    """Returns the signed area of a polygon, by the shoelace formula [m^2]."""
    x, y = vertices.T
    return float(0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)))


@pytest.fixture
def patch() -> stiction.ContactPatch:
    scene = stiction.load_scene(find_scene_file("spatula"))
    data = scene.make_data()
    data.ctrl[:] = 6.5
    report = scene.make_simulator().step(data, 50)
    return report.patches[0]


def test_projected_faces_have_the_area_of_the_patch(patch: stiction.ContactPatch) -> None:
    flat = flatten_patch(patch, np.array([1.0, 0.0, 0.0]))
    mean = patch.face_area @ patch.face_normal
    # Faces are counter-clockwise about the normal, so their areas are positive seen along it.
    areas = [calc_polygon_area(face) for face in flat.faces]
    assert len(areas) == len(patch) > 20
    assert sum(areas) == pytest.approx(np.linalg.norm(mean), rel=1e-12)


def test_friction_sums_to_the_tangential_force(patch: stiction.ContactPatch) -> None:
    axis = np.array([1.0, 0.0, 0.0])
    flat = flatten_patch(patch, axis)
    normal_force = (patch.face_area * patch.normal_traction) @ patch.face_normal
    normal = patch.face_area @ patch.face_normal
    normal /= np.linalg.norm(normal)
    x = axis - (axis @ normal) * normal
    x /= np.linalg.norm(x)
    friction = patch.face_area @ flat.friction
    # The bubble carries a part of the spatula's weight by friction.
    assert np.linalg.norm(friction) > 0.1
    assert friction[0] == pytest.approx((patch.force - normal_force) @ x, rel=1e-9, abs=1e-9)


def test_the_center_of_the_patch_is_the_origin(patch: stiction.ContactPatch) -> None:
    flat = flatten_patch(patch, np.array([0.0, 0.0, 1.0]))
    assert patch.face_area @ flat.center == pytest.approx(np.zeros(2), abs=1e-15)
    assert flat.pressure == pytest.approx(patch.pressure)
