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


@pytest.mark.filterwarnings("ignore")
def test_a_patch_is_deep_where_its_force_falls_with_the_depth() -> None:
    """A cylinder of 18 mm that leans on a plane: the force has its peak at 19 mm, before its middle."""
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option gravity='0 0 0'/><worldbody><geom name='floor' type='plane' size='1 1 .1'/>"
        "<body><joint type='slide' axis='0 0 1'/><geom name='c' type='cylinder' size='.0184 .076' "
        "euler='0 34 0'/></body></worldbody></mujoco>"
    )
    properties = {
        "materials": {
            "soft": {"hydroelastic_modulus": 82818.0, "resolution_hint": 0.0317},
            "rigid": {"rigid": True},
        },
        "geoms": {"c": "soft", "floor": "rigid"},
    }
    surfaces = stiction.ContactSurfaces(model, properties)
    simulator = stiction.Simulator(model, properties=properties, deep_patches="field")
    data = mujoco.MjData(model)
    height = 0.0184 * np.sin(np.radians(34)) + 0.076 * np.cos(np.radians(34))
    forces, are_deep = [], []
    for depth in np.arange(0.010, 0.026, 0.001):
        data.qpos[0] = height - depth
        patch = surfaces.calc(data)[0]
        forces.append(patch.force[2])
        are_deep.append(bool(patch.is_deep))
        assert bool(simulator.forward(data).patches[0].is_deep) == are_deep[-1]
    falls = np.diff(forces) < -1e-3 * np.max(forces)
    assert falls.any() and not falls[:8].any()
    assert not any(are_deep[:9])
    assert all(np.array(are_deep[1:])[falls])


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
