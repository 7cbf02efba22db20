"""Configurations of sweeps, and the units that are planned from them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import stiction
import stiction.sweep.plan as plan_module
from stiction.sweep import Plan, SweepConfig, make_plan, read_config
from stiction.sweep.table import INPUTS, RESULTS

MakeConfig = Callable[..., Path]
PlanSweep = Callable[..., tuple[SweepConfig, Plan]]
ROOT = Path(__file__).parents[3]

FULL = """
scenes:
  - slide.xml
  - "more/*.xml"
  - pinch
contact_models: [lagged, sap]
time_steps: [2ms, 0.001]
duration: 0.1 s
controls: random
seeds: [0, 7]
bodies: ["*"]
properties:
  materials: {rubber: {friction: 0.8}}
  geoms: {"*": rubber}
grid:
  tolerance: [1e-5, 1e-8]
  materials.rubber.stiffness: [1e5, .inf]
  opt.impratio: 10
"""


def test_a_configuration_has_all_values(make_config: MakeConfig, tmp_path: Path) -> None:
    path = make_config(FULL)
    (tmp_path / "more").mkdir()
    for name in ("b", "a"):
        (tmp_path / "more" / f"{name}.xml").write_text((tmp_path / "slide.xml").read_text())
    config = read_config(path)
    assert [scene.label for scene in config.scenes] == [
        "slide.xml", "more/a.xml", "more/b.xml", "pinch",
    ]  # fmt: skip
    assert config.scenes[1].path == tmp_path / "more" / "a.xml"
    assert config.scenes[3].path.name == "pinch.xml"
    assert config.contact_models == ["lagged", "sap"]
    assert config.time_steps == [0.002, 0.001]
    assert config.duration == 0.1
    assert config.controls == "random"
    assert config.seeds == [0, 7]
    assert config.bodies == ["*"]
    assert config.properties == {
        "materials": {"rubber": {"friction": 0.8}},
        "geoms": {"*": "rubber"},
    }
    values = {p.name: [value.value for value in p.values] for p in config.parameters}
    assert values == {
        "tolerance": [1e-5, 1e-8],
        "materials.rubber.stiffness": [1e5, float("inf")],
        "opt.impratio": [10],
    }
    plan = make_plan(config)
    # 2 seeds, 2 models, 2 time steps and 4 combinations of parameters. a and b are the same scene
    # as slide.xml.
    assert plan.num_combinations == 4 * 2 * 2 * 2 * 4
    assert len(plan.units) == 2 * 2 * 2 * 2 * 4
    (rubber,) = {unit.properties["materials"]["rubber"]["friction"] for unit in plan.units}
    assert rubber == 0.8


def test_all_stands_for_every_contact_model(make_config: MakeConfig) -> None:
    config = read_config(make_config("scenes: slide.xml\ncontact_models: all"))
    assert config.contact_models == stiction.contact_models()


HEAD = "scenes: slide.xml\ncontact_models: sap\n"


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("", 1, "is empty, must be a mapping with 'scenes' and 'contact_models'"),
        ("- a\n- b\n", 1, "is a list, must be a mapping"),
        ("contact_models: sap\n", 1, "has no 'scenes'; name at least one"),
        (HEAD + "tmie_steps: 1ms\n", 3, "there is no key 'tmie_steps' (did you mean 'time_steps'?)"),
        (HEAD + "contact_models: lagged\n", 3, "has 'contact_models' twice"),
        (HEAD + "duration:\n", 3, "duration is empty; give a value, or remove the key"),
        (HEAD + "duration: 5 parsecs\n", 3, "'5 parsecs' is not a time; write a number of seconds"),
        (HEAD + "duration: -1\n", 3, "'-1' is not a finite time above 0"),
        (HEAD + "duration: [1, 2]\n", 3, "duration has a list, must be a time"),
        (HEAD + "time_steps: []\n", 3, "time_steps is an empty list, so there is nothing to run"),
        (HEAD + "time_steps:\n  - 1ms\n  - true\n", 5, "time_steps has 'True', must be a time"),
        (HEAD + "controls: keyframes\n", 3, "no controls 'keyframes' (did you mean 'keyframe'?)"),
        (HEAD + "seeds: [0, -1]\n", 3, "seeds has '-1', must be integers of at least 0"),
        (HEAD + "seeds: [0.5]\n", 3, "seeds has '0.5', must be integers"),
        (HEAD + "seeds: [1, 2]\n", None, "only random controls read a seed"),
        (HEAD + "bodies: [sldier]\n", None, "no body 'sldier' (did you mean 'slider'?)"),
        (HEAD + "properties: no.yaml\n", 1, "no.yaml: there is no such contact properties file"),
        (HEAD + "properties: {materials: {a: {frction: 1}}}\n", 1, "did you mean 'friction'?"),
        ("scenes: slid.xml\ncontact_models: sap\n", 1, "there is no scene"),
        ("scenes: ['*.urdf']\ncontact_models: sap\n", 1, "no file matches '*.urdf'"),
        ("scenes: pinhc\ncontact_models: sap\n", 1, "did you mean 'pinch'?"),
        ("scenes: 3\ncontact_models: sap\n", 1, "scenes has '3', must be a text"),
        ("scenes: slide.yaml\ncontact_models: sap\n", 1, "is not a scene, because it begins with"),
        ("scenes: slide.xml\ncontact_models: lagge\n", 2, "(did you mean 'lagged'?)"),
        ("scenes: slide.xml\ncontact_models: [sap, sap]\n", 2, "has 'sap' twice"),
        (HEAD + "grid: [1]\n", 3, "grid is a list, must be a mapping of parameters"),
        (HEAD + "grid:\n", 3, "grid is empty, must be a mapping"),
        (HEAD + "grid:\n  tolerance: []\n", 4, "tolerance is an empty list"),
        (HEAD + "grid:\n  tolerance:\n", 4, "tolerance is empty; give a value"),
        (HEAD + "grid:\n  tolerance: 2\n", 4, "tolerance: is 2, must be in (0, 1)"),
        (HEAD + "grid:\n  tolerance: tight\n", 4, "tolerance: is 'tight', must be a number"),
        (HEAD + "grid:\n  tolerance: [1e-3, 1e-3]\n", 4, "has 0.001 twice"),
        (HEAD + "grid:\n  tolernace: 1e-3\n", 4, "(did you mean 'tolerance'?)"),
        (HEAD + "grid:\n  time_step: 1ms\n", 4, "list time steps under 'time_steps'"),
        (HEAD + "grid:\n  trace: true\n", 4, "no place for the course of Newton's method"),
        (HEAD + "grid:\n  geom.box: 1\n", 4, "is not complete; write geom.NAME.FIELD"),
        (HEAD + "grid:\n  geom.bxo.friction: 1\n", 4, "there is no geom 'bxo' (did you mean 'box'?)"),
        (HEAD + "grid:\n  geom.box.frction: 1\n", 4, "no field 'frction' (did you mean 'friction'?)"),
        (HEAD + "grid:\n  geom.box.friction: [[1, 2, 3, 4]]\n", 4, "has 4 values, must be 1 to 3"),
        (HEAD + "grid:\n  geom.box.friction: high\n", 4, "is 'high', must be a number"),
        (HEAD + "grid:\n  geom.box.condim: 1.5\n", 4, "is 1.5, must be an integer"),
        (HEAD + "grid:\n  opt.gravity: .inf\n", 4, "must be finite"),
        (HEAD + "grid:\n  body.ball.mass: -1\n", 4, "mass is -1, must be finite and at least 0"),
        (HEAD + "grid:\n  opt.gravty: 1\n", 4, "no field 'gravty' (did you mean 'gravity'?)"),
        (HEAD + "grid:\n  materials.a.friction: 1\n", 4, "the scene has no contact properties"),
        (HEAD + "grid: {tolerance: 1e-3\n", None, "is not YAML"),
        (HEAD + "---\na: 1\n", None, "has more than one YAML document"),
        ("1: 2\n" + HEAD, 1, "has '1' as a key; use a name"),
    ],
)  # fmt: skip
def test_a_fault_names_its_line_and_its_remedy(
    make_config: MakeConfig, text: str, line: int | None, parts: str
) -> None:
    path = make_config(text)
    with pytest.raises(stiction.Error) as error:
        make_plan(read_config(path))
    assert parts in str(error.value)
    if line is not None:
        assert f"{path}:{line}: " in str(error.value)
    assert "\n" not in str(error.value), "one fault gives one message"


def test_a_material_of_the_properties_may_be_unknown(make_config: MakeConfig) -> None:
    properties = "properties: {materials: {pad: {friction: 1}}, geoms: {'*': pad}}\n"
    for name, part in (("pda.friction", "no material 'pda' (did you mean 'pad'?)"),
                       ("pad.frction", "no property 'frction' (did you mean 'friction'?)")):  # fmt: skip
        path = make_config(f"{HEAD}{properties}grid:\n  materials.{name}: 1\n")
        with pytest.raises(stiction.Error, match=re.escape(part)) as error:
            make_plan(read_config(path))
        assert f"{path}:5: slide.xml: " in str(error.value)


def test_all_faults_come_at_once(make_config: MakeConfig) -> None:
    text = "scenes: [a.xml, b.xml]\ncontact_models: foo\nseeds: x\ngrid: {bar: 1, tolerance: 7}\n"
    with pytest.raises(stiction.Error) as error:
        read_config(make_config(text))
    assert len(str(error.value).splitlines()) == 6
    with pytest.raises(stiction.Error) as error:
        make_plan(read_config(make_config(HEAD + "grid: {geom.a.size: 1, joint.b.range: 2}\n")))
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("section", "faults"),
    [
        ("scenes: [a.xml, 3, b.xml]", 3),
        ("contact_models: [foo, lagged, bar, 7]", 3),
        ("time_steps: [x, 1ms, -1s]", 2),
        ("seeds: [x, 1, -1, true]", 3),
        ("bodies: [1, 'b', 2]", 2),
        ("grid: {tolerance: [x, 1e-6, -1]}", 2),
    ],
    ids=lambda value: str(value).partition(":")[0],
)
def test_all_faults_of_a_list_come_at_once(
    make_config: MakeConfig, section: str, faults: int
) -> None:
    name = section.partition(":")[0]
    valid = {"scenes": "slide.xml", "contact_models": "lagged"}
    rest = "".join(f"{key}: {value}\n" for key, value in valid.items() if key != name)
    with pytest.raises(stiction.Error) as error:
        read_config(make_config(rest + section + "\n"))
    assert len(str(error.value).splitlines()) == faults, error.value


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"scenes: \xff\xfe.xml\n")
    with pytest.raises(stiction.Error, match="a.yaml: is not UTF-8"):
        read_config(path)


def test_patterns_that_match_too_much_are_refused(
    make_config: MakeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_config()
    monkeypatch.setattr("stiction.sweep.config._MAX_MATCHES", 2)
    for i in range(3):
        (tmp_path / f"many{i}.xml").write_text("<mujoco/>")
    for pattern, message in (
        ("many*.xml", "'many*.xml' matches more than 2 files"),
        ("/**/*.xml", "'/**/*.xml' searches all folders of /; begin with a folder"),
    ):
        path.write_text(f"scenes: '{pattern}'\ncontact_models: sap\n")
        with pytest.raises(stiction.Error, match=re.escape(message)):
            read_config(path)


def test_patterns_may_leave_the_folder(make_config: MakeConfig, tmp_path: Path) -> None:
    folder = make_config().parent / "configs"
    folder.mkdir()
    path = folder / "a.yaml"
    for pattern, label in (
        ("../sl*.xml", "../slide.xml"),
        (f"{tmp_path}/s*.xml", f"{tmp_path}/slide.xml"),
    ):
        path.write_text(f"scenes: '{pattern}'\ncontact_models: sap\n")
        assert [scene.label for scene in read_config(path).scenes] == [label]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(stiction.Error, match="no.yaml: there is no such sweep configuration"):
        read_config(tmp_path / "no.yaml")


def test_a_sweep_that_is_too_large_to_list_is_refused(plan_sweep: PlanSweep) -> None:
    steps = ", ".join(f"{1e-5 * i:.5f}" for i in range(1, 101))
    message = (
        r"has 2,000,000 combinations \(2 contact models x 100 time steps x 100 tolerance x 100 "
        r"opt.impratio\), and a sweep may have 1,000,000; give fewer values"
    )
    values = list(range(1, 101))
    with pytest.raises(stiction.Error, match=message):
        plan_sweep(
            f"scenes: slide.xml\ncontact_models: [sap, coulomb]\ntime_steps: [{steps}]\n"
            f"grid: {{tolerance: {[1e-9 * i for i in values]}, opt.impratio: {values}}}\n"
        )


def test_models_that_do_not_read_an_option_run_once(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep(
        "scenes: slide.xml\ncontact_models: [sap, stewart_trinkle]\n"
        "grid: {friction_directions: [4, 8]}\n"
    )
    assert plan.num_combinations == 4
    found = [(unit.contact_model, unit.parameters) for unit in plan.units]
    assert found == [
        ("sap", {}),
        ("stewart_trinkle", {"friction_directions": 4}),
        ("stewart_trinkle", {"friction_directions": 8}),
    ]


def test_a_dot_in_a_name_is_part_of_it(make_config: MakeConfig, tmp_path: Path) -> None:
    path = make_config(HEAD + "grid: {geom.a.b.friction: 0.5}\n")
    scene = tmp_path / "slide.xml"
    scene.write_text(scene.read_text().replace('geom name="box"', 'geom name="a.b"'))
    (unit,) = make_plan(read_config(path)).units
    assert unit.changes == {"geom.a.b.friction": 0.5}


# ---- keys ----------------------------------------------------------------------------------------


def test_equal_content_has_equal_keys(make_config: MakeConfig, tmp_path: Path) -> None:
    def keys(path: Path) -> list[str]:
        return [unit.key for unit in make_plan(read_config(path)).units]

    path = make_config()
    first = keys(path)
    assert len(set(first)) == len(first) == 12
    assert keys(path) == first
    (tmp_path / "slide.xml").rename(tmp_path / "other.xml")
    path.write_text(path.read_text().replace("slide.xml", "other.xml"))
    assert keys(path) == first, "another name of the scene is the same content"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("duration: 0.2s", "duration: 0.3s"),
        ("time_steps: [4ms", "time_steps: [3ms"),
        ("[0.3, 0.6]", "[0.4, 0.6]"),
        ("grid:", "controls: zero\ngrid:"),
        ("grid:", "bodies: ball\ngrid:"),
        ("grid:", "grid:\n  tolerance: 1e-7"),
        ("grid:", "properties: {materials: {a: {friction: 1}}, geoms: {'*': a}}\ngrid:"),
    ],
)
def test_a_change_of_the_configuration_changes_keys(
    make_config: MakeConfig, before: str, after: str
) -> None:
    path = make_config()
    first = make_plan(read_config(path)).units
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    second = make_plan(read_config(path)).units
    assert first[0].key not in {unit.key for unit in second}


def test_other_content_of_a_scene_changes_keys(plan_sweep: PlanSweep) -> None:
    first, second = ({u.key for u in plan_sweep(mass=mass)[1].units} for mass in (0.2, 0.3))
    assert not first & second


@pytest.mark.parametrize("name", ["stiction_version", "mujoco_version", "build", "libc"])
def test_other_software_changes_keys(
    plan_sweep: PlanSweep, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    first = {unit.key for unit in plan_sweep()[1].units}
    software = {**plan_module.describe_software(), name: "another"}
    monkeypatch.setattr(plan_module, "describe_software", lambda: software)
    assert not first & {unit.key for unit in plan_sweep()[1].units}


def test_other_content_of_a_pressure_field_changes_keys(make_config: MakeConfig) -> None:
    tet = ("# vtk DataFile Version 3.0\n{title}\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
           "0 0 0 1 0 0 0 1 0 0 0 1 .25 .25 .25\nCELLS 4 20\n4 4 1 2 3\n4 0 4 2 3\n4 0 1 4 3\n"
           "4 0 1 2 4\nCELL_TYPES 4\n10\n10\n10\n10\n")  # fmt: skip
    material = "{hydroelastic_modulus: 1e6, pressure_field: tet.vtk}"
    path = make_config(
        HEAD + f"properties: {{materials: {{soft: {material}}}, geoms: {{box: soft}}}}\n"
    )
    keys = []
    for title in ("a", "b"):
        (path.parent / "tet.vtk").write_text(tet.format(title=title))
        keys.append(make_plan(read_config(path)).units[0].key)
    assert keys[0] != keys[1]


# ---- documentation -------------------------------------------------------------------------------


def test_the_page_describes_every_column_with_its_unit() -> None:
    page = (ROOT / "docs" / "sweep.md").read_text()
    for column in (*INPUTS, *RESULTS):
        unit = f" [{column.unit}]" if column.unit else ""
        assert re.search(rf"^\| [^|]*`{column.name}`{re.escape(unit)}", page, re.MULTILINE), column


def test_the_example_of_the_page_is_valid() -> None:
    page = (ROOT / "docs" / "sweep.md").read_text()
    (example,) = re.findall(r"```yaml\n(scenes:.*?)```", page, re.DOTALL)
    file = ROOT / "examples" / "grasp.yaml"
    assert file.read_text() == example
    assert len(make_plan(read_config(file)).units) == 2 * 5 * 3 * 4


def test_no_column_has_the_name_of_an_option() -> None:
    names = [column.name for column in (*INPUTS, *RESULTS)]
    assert len(set(names)) == len(names)
    options = set(stiction.setup.options.OPTIONS) - {"contact_model", "time_step"}
    assert not options & set(names)
