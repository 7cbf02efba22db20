"""stiction.ContactSurfaces: surfaces without a step."""

from __future__ import annotations

import numpy as np
import pytest
from stiction.package_scenes import find_scene_file

import stiction


def load_gripper() -> stiction.Scene:
    return stiction.load_scene(find_scene_file("gripper"))


def test_surfaces_at_rest_are_those_of_the_step() -> None:
    scene = load_gripper()
    data = scene.make_data()
    patches = stiction.ContactSurfaces(scene.model, scene.properties).calc(data)
    report = scene.make_simulator().step(data)
    assert patches.num_faces == report.patches.num_faces > 100
    for before, after in zip(patches, report.patches, strict=True):
        assert before.geoms.tolist() == after.geoms.tolist()
        assert before.area == after.area
        np.testing.assert_array_equal(before.pressure, after.pressure)
        force = (before.face_area * before.pressure) @ before.face_normal
        np.testing.assert_allclose(before.force, force, rtol=1e-12)


def test_surfaces_refuse_the_data_of_another_model() -> None:
    surfaces = stiction.ContactSurfaces(load_gripper().model, None)
    with pytest.raises(stiction.Error, match="another model"):
        surfaces.calc(load_gripper().make_data())


def test_triangles_have_the_force_of_their_polygons() -> None:
    scene = load_gripper()
    polygons, triangles = (
        stiction.ContactSurfaces(scene.model, scene.properties, tessellation=tessellation).calc(
            scene.make_data()
        )
        for tessellation in ("polygon", "triangle")
    )
    assert triangles.num_faces > 3 * polygons.num_faces
    for polygon, triangle in zip(polygons, triangles, strict=True):
        np.testing.assert_allclose(triangle.force, polygon.force, rtol=1e-9)
        assert triangle.area == pytest.approx(polygon.area, rel=1e-9)
