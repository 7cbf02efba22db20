"""Tests the explanation of a pair of geoms, and the warnings of settings without effect."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import mujoco
import pytest

import stiction

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="hand" pos="0 0 .5"><freejoint/><geom name="left_pad" size=".1" condim="4"/></body>
    <body name="cube"><freejoint/>
      <geom name="cube" type="box" size=".1 .1 .1" friction="0.7"/><geom size=".05"/>
    </body>
  </worldbody>
</mujoco>
"""
PROPERTIES = "materials:\n  rubber: {stiffness: 2e5, friction: 1}\ngeoms:\n  '*_pad': rubber\n"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    (tmp_path / "pads.yaml").write_text(PROPERTIES)
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    return path


def explain(scene: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "stiction", "explain", scene, *arguments],
        cwd=scene.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_numbers_are_those_of_the_step(scene: Path) -> None:
    loaded = stiction.load_scene(scene, scene.parent / "pads.yaml")
    simulator = loaded.make_simulator("lagged")
    explanation = simulator.explain("left_pad", "cube")
    numbers = {number["name"]: number for number in explanation["numbers"]}
    assert explanation["contact_model"] == "lagged"
    assert [geom["body"] for geom in explanation["geoms"]] == ["hand", "cube"]
    assert explanation["geoms"][0]["material"] == "rubber"
    assert explanation["geoms"][1]["material"] is None
    assert numbers["friction"]["value"] == pytest.approx(2 * 0.7 / 1.7)
    assert f"{scene.parent}/pads.yaml:2, material 'rubber'" in numbers["friction"]["from"]
    assert "0.7 (MJCF friction of geom 'cube')" in numbers["friction"]["from"]

    # The pad sinks by m g / k into the floor.
    numbers = {n["name"]: n for n in simulator.explain("left_pad", "floor")["numbers"]}
    data = loaded.make_data()
    data.qpos[2] = 0.1
    data.qpos[7] = 5  # the cube falls elsewhere
    simulator.step(data, 2000)
    weight = 9.81 * loaded.model.body("hand").mass[0]
    assert 0.1 - data.qpos[2] == pytest.approx(weight / numbers["stiffness"]["value"], rel=1e-3)


@pytest.mark.slow
def test_json_has_all_numbers(scene: Path) -> None:
    result = explain(scene, "left_pad", "cube", "--properties", "pads.yaml", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    values = json.loads(result.stdout)
    assert values["collides"] is True
    assert values["contact_model"] == "coulomb"
    assert {n["name"] for n in values["numbers"]} >= {
        "stiffness", "dissipation", "relaxation_time", "friction", "torsional friction",
        "stiction_tolerance", "condim", "margin - gap", "gliding gap",
    }  # fmt: skip
    # Readers of numbers find no text among the values; null is the infinite stiffness.
    numbers = json.loads(explain(scene, "cube", "floor", "--json").stdout)["numbers"]
    assert all(isinstance(n["value"], int | float | None) for n in numbers)
    infinite = {n["name"]: n["note"] for n in numbers if n["value"] is None}
    assert set(infinite) == {"stiffness", "tangential_stiffness"}
    assert infinite["stiffness"].startswith("near-rigid")


@pytest.mark.slow
def test_text_has_the_source_of_each_number(scene: Path) -> None:
    result = explain(scene, "left_pad", "cube", "--properties", "pads.yaml")
    text = " ".join(result.stdout.split())
    assert "geom 'left_pad' of body 'hand': material 'rubber' by '*_pad' (pads.yaml:4)" in text
    assert "They collide: by contype and conaffinity; contact model coulomb." in text
    assert "pads.yaml:2" in text


@pytest.mark.slow
def test_geoms_that_do_not_collide_are_not_an_error(scene: Path) -> None:
    result = explain(scene, "cube", "#3")
    assert result.returncode == 0
    assert "geom #3 of body 'cube'" in result.stdout
    assert "They do not collide: they belong to the same body 'cube'" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("geom", "message"),
    [
        ("cub", "did you mean 'cube'?"),
        ("pda", "did you mean 'left_pad'?"),  # by a word of the name
        ("habd", "did you mean a geom of body 'hand': 'left_pad'?"),
        ("xyzzy", "there are 'floor', 'left_pad', 'cube'"),
        ("#4", "there is no #4; the scene has 4 geoms"),
        ("", "there is no ''"),
    ],
)
def test_unknown_geoms_are_errors(scene: Path, geom: str, message: str) -> None:
    result = explain(scene, geom, "floor")
    assert result.returncode == 2  # wrong usage
    assert result.stderr.startswith("error: geom: there is no")
    assert message in result.stderr


def test_geoms_are_names_or_ids() -> None:
    simulator = stiction.Simulator(mujoco.MjModel.from_xml_string(SCENE))
    assert simulator.explain(2, 0) == simulator.explain("cube", "#0")
    for bad in (True, 1.5, None, -1):
        with pytest.raises(stiction.Error, match="geom"):
            simulator.explain(bad, 0)  # type: ignore[arg-type]


def test_each_setting_without_effect_gives_one_warning() -> None:
    model = mujoco.MjModel.from_xml_string(
        SCENE.replace("<worldbody>", '<option impratio="10"/><worldbody>')
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulator = stiction.Simulator(model, "sap", properties={"materials": {}})
        simulator.step(mujoco.MjData(model), 10)
    assert all(w.category is stiction.IgnoredSettingWarning for w in caught)
    texts = [str(w.message) for w in caught]
    assert len(texts) == 2
    assert texts[0].startswith("condim of geom 'left_pad'")
    assert texts[1].startswith("impratio of the MJCF's <option> has no effect under 'sap'")
    assert {w.filename for w in caught} == {__file__}
