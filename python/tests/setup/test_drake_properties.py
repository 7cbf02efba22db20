"""Tests that Drake's proximity properties in URDF and SDF files become contact properties."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import pytest

import stiction

URDF = """
<robot name="r" xmlns:drake="http://drake.mit.edu">
  <link name="floor"><collision><geometry><box size="1 1 1"/></geometry>
    <drake:proximity_properties><drake:rigid_hydroelastic/></drake:proximity_properties>
  </collision></link>
  <link name="ball">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision name="skin"><geometry><sphere radius="0.1"/></geometry>
      <drake:proximity_properties>
        <drake:compliant_hydroelastic/>
        <drake:hydroelastic_modulus value="1e5"/>
        <drake:mu_dynamic value="0.4"/>
        {more}
      </drake:proximity_properties>
    </collision>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="floor"/><child link="ball"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""
SKIN = {"hydroelastic_modulus": 1e5, "friction": 0.4}
MODELS = Path(__file__).parents[4] / "shared" / "peers" / "models"


def write_urdf(folder: Path, more: str = "") -> Path:
    path = folder / "robot.urdf"
    path.write_text(URDF.format(more=more))
    return path


def find_number(simulator: stiction.Simulator, name: str) -> float:
    numbers = simulator.explain(0, 1)["numbers"]
    return next(number["value"] for number in numbers if number["name"] == name)


def test_a_urdf_has_its_own_properties(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write_urdf(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene = stiction.load_scene(path)
    assert scene.properties is not None
    assert scene.properties.content == {
        "materials": {"floor::#1": {"rigid": True}, "ball::skin": SKIN},
        "geoms": {"class:floor::#1": "floor::#1", "ball::skin": "ball::skin"},
        "classes": {"floor::#1": [0], "ball::#1": [1]},
    }
    assert find_number(scene.make_simulator(), "friction") == pytest.approx(2 * 0.4 * 1 / 1.4)
    assert capfd.readouterr().err == ""
    assert stiction.load_scene(path, {}).properties is not None


def test_a_urdf_without_properties_gives_none(tmp_path: Path) -> None:
    path = tmp_path / "plain.urdf"
    path.write_text(
        '<robot name="r"><link name="l"><collision><geometry><sphere radius="1"/></geometry>'
        "</collision></link></robot>"
    )
    assert stiction.load_scene(path).properties is None


def test_an_ignored_property_gives_a_warning(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, '<drake:hydroelastic_margin value="0.1"/>')
    with pytest.warns(stiction.StictionWarning, match=r"robot\.urdf:13: .*hydroelastic_margin"):
        stiction.load_scene(path)


def test_faults_have_their_line(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, '<drake:mesh_resolution_hint value="0"/>')
    with pytest.raises(stiction.Error, match=r"robot\.urdf:13: .*mesh_resolution_hint is '0'"):
        stiction.load_scene(path)


def test_properties_of_an_sdf_apply_to_geoms_by_name() -> None:
    path = MODELS / "schunk_wsg_50_hydro_bubble.sdf"
    if not path.exists():
        pytest.skip(f"no {path}")
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><worldbody>
      <geom name="left_finger_bubble::left_finger_ellipsoid" type="ellipsoid" size="1 1 1"/>
      <body name="right_finger_bubble"><freejoint/><geom type="ellipsoid" size="1 1 1"/></body>
    </worldbody></mujoco>""")
    simulator = stiction.Simulator(model, "lagged", properties=path)
    materials = simulator.options["properties"]["materials"]
    for side in ("left", "right"):
        assert materials[f"{side}_finger_bubble::{side}_finger_ellipsoid"] == {
            "hydroelastic_modulus": 1e5,
            "resolution_hint": 0.04,
            "dissipation": 5,
            "friction": 1,
        }
    assert find_number(simulator, "dissipation") == 5
