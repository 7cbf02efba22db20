"""Tests ContactSurfaces, which computes surfaces without a step."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import stiction
from stiction.evidence.experiments import gripper
from stiction.inputs.package_scenes import find_scene_file


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


def test_a_surface_without_a_step_is_marked_as_deep() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody>
             <geom name="ground" type="plane" size="1 1 1"/>
             <body><freejoint/><geom name="ball" size="0.05"/></body>
           </worldbody></mujoco>"""
    )
    properties = {
        "materials": {"soft": {"hydroelastic_modulus": 1e5}, "hard": {"rigid": True}},
        "geoms": {"ball": "soft", "ground": "hard"},
    }
    surfaces = stiction.ContactSurfaces(model, properties)
    data = mujoco.MjData(model)
    for height, is_deep in ((0.001, True), (0.04, False)):
        data.qpos[2] = height
        assert [patch.is_deep for patch in surfaces.calc(data)] == [is_deep]


@pytest.mark.filterwarnings("error::stiction.StepWarning")
def test_a_handle_that_soft_bubbles_enclose_is_not_deep() -> None:
    scene = load_gripper()
    data = scene.make_data()
    simulator = scene.make_simulator()
    enclosed = 0
    for _ in range(50):
        report = simulator.step(data)
        assert not any(patch.is_deep for patch in report.patches)
        names = [{scene.model.geom(g).name for g in patch.geoms} for patch in report.patches]
        enclosed += {"left_bubble", "handle"} in names
    assert enclosed == 50


def test_tilted_faces_are_dropped_on_request_in_surfaces_and_steps() -> None:
    scene = gripper.load_gripper(gripper.RESOLUTIONS[0])  # whose coarse meshes have tilted faces
    data = scene.make_data()
    scene.make_simulator("lagged").step(data, 30)
    keep, drop = (
        stiction.ContactSurfaces(scene.model, scene.properties, tilted_faces=rule).calc(data)
        for rule in ("keep", "drop")
    )
    simulator = scene.make_simulator(tilted_faces="drop")
    report = simulator.step(data)
    assert simulator.options["tilted_faces"] == "drop"
    assert keep.num_faces > drop.num_faces == report.patches.num_faces > 100
    assert [patch.area for patch in drop] == [patch.area for patch in report.patches]
    with pytest.raises(stiction.Error, match=r"tilted_faces: there is no 'drp'.*'drop'"):
        stiction.ContactSurfaces(scene.model, scene.properties, tilted_faces="drp")
