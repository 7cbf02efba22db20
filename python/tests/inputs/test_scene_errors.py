"""Tests that a scene that cannot be loaded gives an Error with file and line, never an abort."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import stiction

BODY = "<mujoco><worldbody>\n<body><freejoint/>\n{}</body></worldbody></mujoco>"
INCLUDE = '<mujoco>\n\n<include file="{}"/></mujoco>'


@pytest.fixture(autouse=True)
def _work_in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(text: str) -> stiction.Scene:
    Path("scene.xml").write_text(text)
    return stiction.load_scene("scene.xml")


def load_error(text: str) -> stiction.Error:
    with pytest.raises(stiction.Error) as caught:
        load(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "code", "where", "message"),
    [
        ("", "syntax", "scene.xml", "empty file"),
        ("hello", "syntax", "scene.xml", "is not a scene, because it begins with 'hello'"),
        (
            "<mujoco><worldbody>\n<geom></worldbody></mujoco>",
            "syntax",
            "scene.xml:2",
            "is not well-formed XML: mismatched element at element 'geom'",
        ),
        (BODY.format('<geom siz="1"/>'), "syntax", "scene.xml:3", "attribute: 'siz'"),
        (BODY.format('<goem size="1"/>'), "syntax", "scene.xml:3", "element 'goem'"),
        (BODY.format('<geom size="1" contype="a"/>'), "syntax", "scene.xml:3", "'contype'"),
        (BODY.format('<geom size="-1" name="q"/>'), "invalid_value", "scene.xml:3", "'q'"),
        (BODY.format('<geom size="1" mass="-1"/>'), "invalid_value", "scene.xml:3", "negative"),
        (BODY.format('<geom size="1" mass="nan"/>'), "invalid_value", "scene.xml:3", "'nan'"),
        (BODY.format('<geom size="1" mass="1e999"/>'), "syntax", "scene.xml:3", "too large"),
        (
            BODY.format('<geom size="1" name="b" mass="Inf"/>'),
            "invalid_value",
            "scene.xml:3",
            "geom 'b': mass is 'Inf', must be finite",
        ),
        (BODY.format('<geom size="1" pos="0 -nan 0"/>'), "invalid_value", "scene.xml:3", "pos"),
        (
            BODY.format('<geom size="1" solref="nan 1"/>'),
            "invalid_value",
            "scene.xml:3",
            "geom: solref is 'nan 1', must be finite",
        ),
        (BODY.format(""), "invalid_value", "scene.xml:2", "mass and inertia"),
        (BODY.format('<geom type="mesh" mesh="q"/>'), "invalid_value", "scene.xml:3", "mesh 'q'"),
        (
            '<mujoco><option\n timestep="-0.1"/></mujoco>',
            "invalid_value",
            "scene.xml:1",
            "option: timestep is '-0.1', must be a time above 0 s",
        ),
        ('<mujoco><option timestep="0"/></mujoco>', "invalid_value", "scene.xml:1", "'0'"),
        (
            '<mujoco><asset>\n<mesh file="q.obj"/></asset></mujoco>',
            "file_not_found",
            "scene.xml:2",
            "'q.obj'; add the file, or correct its name",
        ),
        (
            '<mujoco><asset>\n\n<hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/>'
            "</asset></mujoco>",
            "invalid_value",
            "scene.xml:3",
            "hfield 'h': 1e+10 elevations exceed the limit of 4e+07",
        ),
        (
            '<mujoco><asset><texture name="t" builtin="flat" type="2d" width="99999" '
            'height="99999"/></asset></mujoco>',
            "invalid_value",
            "scene.xml:1",
            "texture 't': 9.9998e+09 pixels",
        ),
        (
            '<mujoco><size nuser_geom="2000000000"/><worldbody><geom size="1"/></worldbody></mujoco>',
            "invalid_value",
            "scene.xml:1",
            "2e+09 numbers for each geom",
        ),
        ('<mujoco><size memory="9999999G"/></mujoco>', "mujoco", "scene.xml", "memory"),
        (INCLUDE.format("none.xml"), "file_not_found", "scene.xml:3", "'none.xml'"),
        (INCLUDE.format("scene.xml"), "syntax", "scene.xml:3", "already included"),
        ("<mujoco>" + "<a>" * 1000, "syntax", "scene.xml:1", "depth exceeded"),
    ],
)
def test_the_place_is_named(text: str, code: str, where: str, message: str) -> None:
    error = load_error(text)
    assert (error.code, error.where) == (code, where), str(error)
    assert message in error.message
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("included", "code", "message"),
    [
        ('<geom name="zz" size="-2"/>', "invalid_value", "size"),
        ('<geom siz="2"/>', "syntax", "'siz'"),
        ('<geom size="2" mass="inf"/>', "invalid_value", "'inf'"),
        ("<geom></x>", "syntax", "mismatched element"),
        ('<replicate count="1000000"><geom size="1"/></replicate>', "invalid_value", "copies"),
    ],
)
def test_the_line_is_that_of_the_included_file(included: str, code: str, message: str) -> None:
    Path("part.xml").write_text(f"<mujoco><worldbody>\n\n\n{included}</worldbody></mujoco>")
    error = load_error(INCLUDE.format("part.xml"))
    assert (error.code, error.where) == (code, "part.xml:4"), str(error)
    assert message in error.message


def test_all_values_that_are_not_finite_are_listed() -> None:
    error = load_error(BODY.format('<geom size="1" mass="nan"/>\n<geom size="inf" pos="inf 0 0"/>'))
    for part in ("scene.xml:3: geom: mass", "scene.xml:4: geom: size", "scene.xml:4: geom: pos"):
        assert part in str(error)


def test_replicas_are_counted_before_they_are_made() -> None:
    geom = '<geom size=".1"/>'
    nested = '<replicate count="1000"><replicate count="1000">{}</replicate></replicate>'
    error = load_error(f"<mujoco><worldbody>\n{nested.format(geom)}</worldbody></mujoco>")
    assert error.where == "scene.xml:2"
    assert "1.001e+06 copies in total exceed the limit of 10000" in error.message
    Path("part.xml").write_text(f'<mujoco><replicate count="1000">{geom}</replicate></mujoco>')
    around = '<replicate count="1000">\n<include file="part.xml"/></replicate>'
    error = load_error(f"<mujoco><worldbody>{around}</worldbody></mujoco>")
    assert error.where == "part.xml:1"
    few = '<replicate count="20" offset="1 0 0">{}</replicate>'
    assert load(f"<mujoco><worldbody>{few.format(geom)}</worldbody></mujoco>").model.ngeom == 20
    assert (
        "count is '-1'"
        in load_error(
            f"<mujoco><worldbody>{few.replace('20', '-1').format(geom)}</worldbody></mujoco>"
        ).message
    )


def test_names_may_be_inf_and_nan() -> None:
    assert load(BODY.format('<geom name="inf" size="1"/>')).model.geom("inf").id == 0
    assert load('<mujoco><worldbody><geom name="nan" size="1"/></worldbody></mujoco>')


def test_faults_of_the_compiled_model_are_found() -> None:
    text = BODY.format('<joint name="j"/>').replace("<freejoint/>", '<geom size="1"/>')
    error = load_error(text.replace('name="j"', 'name="j" armature="1e60"'))
    assert error.where == "scene.xml"
    assert "joint 'j': armature is 1e+60" in error.message


def test_mujocos_warnings_become_pythons() -> None:
    with pytest.warns(stiction.StictionWarning, match=r"scene\.xml: MuJoCo: .*NaN"):
        load(
            '<mujoco><size nuser_geom="1"/><worldbody><geom size="1" user="nan"/></worldbody>'
            "</mujoco>"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(BODY.format('<geom size="1"/>'))
    assert not Path("MUJOCO_LOG.TXT").exists()


def test_files_must_be_files(tmp_path: Path) -> None:
    for path in (tmp_path / "none.xml", tmp_path):
        with pytest.raises(stiction.Error) as caught:
            stiction.load_scene(path)
        assert (caught.value.code, caught.value.where) == ("file_not_found", str(path))


def test_urdf_is_a_scene() -> None:
    text = '<robot name="r"><link name="a"/></robot>'
    assert load(text).model.nbody >= 1


@pytest.mark.slow
def test_the_command_line_prints_the_same_message() -> None:
    Path("scene.xml").write_text(BODY.format('<geom size="1" mass="inf"/>'))
    program = Path(sys.executable).parent / "stiction"
    result = subprocess.run(
        [program, "run", "scene.xml"], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert result.stderr == "error: scene.xml:3: geom: mass is 'inf', must be finite\n"
