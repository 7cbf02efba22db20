"""Tests contact properties from files, dicts, scenes and recordings."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction

SCENE = """
<mujoco>
  <custom>{custom}</custom>
  <default><default class="soft"><geom size=".1" mass="1"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body pos="0 0 .1"><freejoint/><geom name="ball" class="soft"/></body>
  </worldbody>
</mujoco>
"""
TEXT = '<text name="stiction" data="sub/pads.contact.yaml"/>'
CONTENT = {"materials": {"gel": {"stiffness": 2e4, "friction": 0.8}}, "geoms": {"*": "gel"}}
DEPTH = 9.81 / 1e4  # depth of the ball on two springs of 2e4 N/m in series [m]


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(SCENE.format(custom=""))


def write_scene(folder: Path, custom: str, content: object) -> Path:
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "sub" / "pads.contact.yaml").write_text(json.dumps(content))
    path = folder / "scene.xml"
    path.write_text(SCENE.format(custom=custom))
    return path


def rest_depth(simulator: stiction.Simulator) -> float:
    data = mujoco.MjData(simulator.model)
    simulator.step(data, 2000)
    return 0.1 - data.qpos[2]


def test_a_dict_and_a_file_give_the_same_properties(model: mujoco.MjModel, tmp_path: Path) -> None:
    file = tmp_path / "gel.yaml"
    file.write_text("materials: {gel: {stiffness: 2e4, friction: 0.8}}\ngeoms: {'*': gel}\n")
    for properties in (CONTENT, str(file), file, stiction.ContactProperties.read(str(file))):
        simulator = stiction.Simulator(model, properties=properties)
        assert simulator.options["properties"] == CONTENT
        assert rest_depth(simulator) == pytest.approx(DEPTH, rel=1e-3)
    assert rest_depth(stiction.Simulator(model)) < DEPTH / 100


def test_options_make_the_same_simulator_again(model: mujoco.MjModel) -> None:
    content = {**CONTENT, "materials": {"gel": {"stiffness": math.inf, "dissipation": 3}}}
    options = stiction.Simulator(model, "lagged", properties=content).options
    again = json.loads(json.dumps(options, allow_nan=False))
    assert again["properties"]["materials"]["gel"] == {"stiffness": ".inf", "dissipation": 3.0}
    assert stiction.Simulator(model, **again).options == options
    assert stiction.Simulator(model).options["properties"] is None
    assert stiction.Simulator(model, properties={}).options["properties"] == {}


def test_properties_of_pressure_fields_stay_in_the_options(model: mujoco.MjModel) -> None:
    materials = {
        "gel": {"hydroelastic_modulus": 1e5, "resolution_hint": 0.01, "slab_thickness": 0.1},
        "steel": {"rigid": True, "friction": 0.3},
        "wood": {"rigid": False},
    }
    options = stiction.Simulator(model, properties={"materials": materials}).options
    assert options["properties"]["materials"] == {**materials, "wood": {}}


def test_the_file_of_a_field_is_relative_to_the_file_that_names_it(tmp_path: Path) -> None:
    materials = {"part": {"hydroelastic_modulus": 1e5, "pressure_field": "../part.vtk"}}
    path = write_scene(tmp_path, TEXT, {"materials": materials})
    properties = stiction.load_scene(path).properties
    assert properties is not None
    assert properties.content["materials"]["part"]["pressure_field"] == str(tmp_path / "part.vtk")
    properties = stiction.load_scene(path, {"materials": materials}).properties
    assert properties is not None
    in_parent = str(tmp_path.parent / "part.vtk")
    assert properties.content["materials"]["part"]["pressure_field"] == in_parent


def test_numbers_of_numpy_are_accepted(model: mujoco.MjModel) -> None:
    content = {"materials": {"gel": {"stiffness": np.float32(2e4)}}, "geoms": {"floor": "gel"}}
    options = stiction.Simulator(model, properties=content).options
    assert options["properties"]["materials"]["gel"]["stiffness"] == 2e4


@pytest.mark.parametrize(
    ("properties", "code", "message"),
    [
        ({"materials": {"g": {"friction": -1}}}, "invalid_value", "properties: material 'g'"),
        ({"materials": {"g": {"friction": math.nan}}}, "invalid_value", "'NaN'"),
        ({"materials": {"g": {"frction": 1}}}, "unknown_name", "did you mean 'friction'"),
        ({"materials": {"g": {}}, "geoms": {"flor": "g"}}, "unknown_name", "mean 'floor'"),
        ({"materials": {"g": {}}, "geoms": {"class:soft": "g"}}, "unsupported", "load_scene"),
        ({"materials": {"g": {"friction": object()}}}, "wrong_shape", "properties"),
        ({"materials": {(1, 2): {}}}, "wrong_shape", "properties"),
        ({"materials": 3}, "syntax", "must be a mapping"),
        (3, "wrong_shape", "is an int"),
        ("nowhere.yaml", "file_not_found", "nowhere.yaml"),
    ],
)
def test_faults_are_errors(
    model: mujoco.MjModel, properties: object, code: str, message: str
) -> None:
    with pytest.raises(stiction.Error, match=message) as caught:
        stiction.Simulator(model, properties=properties)
    assert caught.value.code == code


def test_messages_shorten_texts_at_whole_characters(model: mujoco.MjModel, tmp_path: Path) -> None:
    with pytest.raises(stiction.Error, match=r"is 'xé+\.\.\.', must be"):
        stiction.Simulator(model, properties={"materials": {"g": {"friction": "x" + "é" * 60}}})
    (tmp_path / "latin.yaml").write_bytes(b"materials: {g: {friction: \xe9}}")
    with pytest.raises(stiction.Error, match=r"latin\.yaml:1"):
        stiction.Simulator(model, properties=tmp_path / "latin.yaml")


def test_a_scene_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_scene(tmp_path, TEXT, CONTENT)
    monkeypatch.chdir("/")
    scene = stiction.load_scene(path)
    assert scene.properties is not None
    assert scene.properties.origin == str(tmp_path / "sub" / "pads.contact.yaml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulator = scene.make_simulator("sap")
    assert rest_depth(simulator) == pytest.approx(DEPTH, rel=1e-3)


def test_given_properties_replace_those_the_scene_names(tmp_path: Path) -> None:
    path = write_scene(tmp_path, TEXT, CONTENT)
    scene = stiction.load_scene(path, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rest_depth(scene.make_simulator()) < DEPTH / 100


def test_a_missing_file_named_by_the_scene_is_an_error(tmp_path: Path) -> None:
    path = write_scene(tmp_path, TEXT.replace("pads", "pods"), CONTENT)
    with pytest.raises(stiction.Error, match="relative to its own folder") as caught:
        stiction.load_scene(path)
    assert caught.value.code == "file_not_found"
    assert "pods.contact.yaml" in caught.value.where


def test_a_bare_model_that_names_a_file_gives_a_warning() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE.format(custom=TEXT))
    with pytest.warns(stiction.StictionWarning, match="load_scene"):
        stiction.Simulator(model)


def test_classes_come_from_the_scene_and_stay_in_the_options(tmp_path: Path) -> None:
    content = {
        "materials": {"gel": {"stiffness": 1e4}, "hard": {"stiffness": 1e9}},
        "geoms": {"*": "hard", "class:soft": "gel"},
    }
    simulator = stiction.load_scene(write_scene(tmp_path, TEXT, content)).make_simulator()
    assert rest_depth(simulator) == pytest.approx(DEPTH, rel=1e-3)
    assert simulator.options["properties"]["classes"]["soft"] == [1]
    again = stiction.Simulator(simulator.model, **simulator.options)
    assert rest_depth(again) == rest_depth(simulator)


def test_a_recording_replays_with_its_properties(tmp_path: Path) -> None:
    scene = stiction.load_scene(write_scene(tmp_path, TEXT, CONTENT))
    data = scene.make_data()
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, scene.make_simulator()) as recorder:
        recorder.step(data, 100)
    (tmp_path / "sub" / "pads.contact.yaml").unlink()
    recording = stiction.Recording(path)
    assert recording.options["properties"] == CONTENT
    assert all(step.find_difference() is None for step in stiction.Replay(recording))
    other = stiction.Replay(recording, properties={})
    assert any(step.find_difference() is not None for step in other)


@pytest.mark.slow
def test_the_commands_accept_a_file(tmp_path: Path) -> None:
    scene = write_scene(tmp_path, "", CONTENT)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).parent / "stiction"
        return subprocess.run(
            [program, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    digests = []
    for options in ([], ["--properties", "sub/pads.contact.yaml"]):
        result = run("run", scene, "--duration", "0.1", "--json", "--record", "r.mcap", *options)
        assert result.returncode == 0, result.stderr
        digests.append(json.loads(result.stdout)["state_digest"])
        assert run("replay", "r.mcap", "--verify").returncode == 0
    assert digests[0] != digests[1]
    (tmp_path / "hard.yaml").write_text("materials: {h: {}}\ngeoms: {'*': h}")
    assert run("replay", "r.mcap", "--verify", "--properties", "hard.yaml").returncode == 1
    result = run("run", scene, "--properties", "none.yaml")
    assert (result.returncode, result.stdout) == (2, "")
    assert "error: none.yaml: there is no such contact properties file" in result.stderr
