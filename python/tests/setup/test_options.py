"""Options come from one table: arguments, types, documentation, settings and pages."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import mujoco
import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import stiction
import stiction.cli  # registers the commands
from stiction._core import contact_model_traits
from stiction.commands.app import app
from stiction.commands.parsing import Setting, parse_setting
from stiction.setup.options import DEFAULTS, OPTIONS, Option
from stiction.tables.plots import find_color

DOCS = Path(__file__).resolve().parents[3] / "docs"
SCENE = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(SCENE)


def test_a_simulator_has_every_option_as_argument_with_its_default() -> None:
    parameters = inspect.signature(stiction.Simulator).parameters
    assert list(parameters) == ["model", *OPTIONS, "properties", "model_is_constant"]
    assert {name: parameters[name].default for name in OPTIONS} == DEFAULTS
    assert parameters["contact_model"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert parameters["tolerance"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["time_step"].annotation == "float | None"


def test_the_documentation_describes_every_option() -> None:
    text = inspect.getdoc(stiction.Simulator) or ""
    entries = re.findall(r"^    (\w+): ", text, re.MULTILINE)
    arguments = ["model", *OPTIONS, "properties", "model_is_constant"]
    assert entries == [*arguments, "TypeError", "Error"]
    assert max(map(len, text.splitlines())) <= 100
    plain = " ".join(text.split())
    assert "Must be in (0, 1); the default is 1e-05." in plain
    assert "Must be None, or a finite number above 0 s; the default is None." in plain
    assert "These contact models read it: no_slip, viscous." in plain


def test_type_checkers_know_every_option() -> None:
    stub = Path(stiction.__file__ or "").parent / "_step_options.pyi"
    tree = ast.parse(stub.read_text())
    (options,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    types = {
        ast.unparse(node.target): ast.unparse(node.annotation)
        for node in options.body
        if isinstance(node, ast.AnnAssign)
    }
    assert types == {
        name: option.type for name, option in OPTIONS.items() if name != "contact_model"
    }


def test_options_make_the_same_simulator_again(model: mujoco.MjModel) -> None:
    given: dict[str, Any] = {
        "contact_model": "similar", "normal_law": "hertz", "max_iterations": 7,
        "drop_separating": False, "remember_forces": False, "time_step": 0.25, "on_failure": "stop",
    }  # fmt: skip
    options = stiction.Simulator(model, **given).options
    assert options == {**DEFAULTS, "friction_law": "soft", **given, "properties": None}
    assert stiction.Simulator(model, **options).options == options
    assert stiction.Simulator(model, time_step=None).time_step == model.opt.timestep


def test_an_unknown_option_is_a_type_error_with_the_nearest_name(model: mujoco.MjModel) -> None:
    with pytest.raises(TypeError, match=r"no option 'tolerence' \(did you mean 'tolerance'\?\)"):
        stiction.Simulator(model, tolerence=1e-3)  # type: ignore[call-arg]


CHOICES = [option for option in OPTIONS.values() if option.kind == "choice"]


@pytest.mark.parametrize("option", CHOICES, ids=lambda option: option.name)
def test_a_wrong_choice_is_answered_by_the_nearest_one_or_by_all(
    option: Option, model: mujoco.MjModel
) -> None:
    for name in option.choices:
        with pytest.raises(stiction.Error, match=rf"did you mean '{name}'\?"):
            stiction.Simulator(model, **{option.name: name.upper()})  # type: ignore[arg-type]
    with pytest.raises(stiction.Error) as error:
        stiction.Simulator(model, **{option.name: "0123456789"})  # type: ignore[arg-type]
    assert all(name in str(error.value) for name in option.choices)


@pytest.mark.parametrize("option", CHOICES, ids=lambda option: option.name)
def test_a_command_answers_a_wrong_choice_in_the_same_way(option: Option, tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(SCENE)
    own = {parameter.name for parameter in get_command(app).commands["run"].params}  # type: ignore[attr-defined]
    if option.name not in own and option.name == "on_failure":
        return  # the command chooses it
    for value, answers in [
        (option.choices[-1].upper(), [f"did you mean '{option.choices[-1]}'?"]),
        ("0123456789", option.choices),
    ]:
        argument = (
            [f"--{option.name.replace('_', '-')}", value]
            if option.name in own
            else ["--set", f"{option.name}={value}"]
        )
        result = CliRunner().invoke(app, ["run", str(scene), *argument], env={"COLUMNS": "400"})
        assert result.exit_code != 0
        message = result.output + str(result.exception)
        assert all(answer in message for answer in answers), message


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("gap_correction=0.2", Setting("gap_correction", 0.2)),
        ("friction_directions = 8", Setting("friction_directions", 8)),
        ("drop_separating=false", Setting("drop_separating", False)),
        ("lcp_solver=lemke", Setting("lcp_solver", "lemke")),
    ],
)
def test_settings_have_the_type_of_their_option(text: str, setting: Setting) -> None:
    parsed = parse_setting(text)
    assert parsed == setting
    assert type(parsed.value) is type(setting.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gap_correction", "'gap_correction' is not NAME=VALUE"),
        ("tolerence=1e-3", r"no setting 'tolerence' \(did you mean 'tolerance'\?\)"),
        ("time_stp=1e-3", r"no setting 'time_stp' \(did you mean 'time_step'\?\)"),
        ("gap_corection=1", r"no setting 'gap_corection' \(did you mean 'gap_correction'\?\)"),
        ("gap_correction=much", "gap_correction is 'much', must be a number"),
        ("max_iterations=2.5", "max_iterations is '2.5', must be an integer"),
        ("drop_separating=no", "drop_separating is 'no', must be true or false"),
        ("tolerance=much", "tolerance is 'much', must be a number"),
    ],
)
def test_settings_of_another_form_are_refused(text: str, message: str) -> None:
    with pytest.raises(typer.BadParameter, match=message):
        parse_setting(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run a.xml --set tolerance=2", "'tolerance' has its own argument; write --tolerance 2"),
        (
            "run a.xml --set time_step=1e-3",
            "'time_step' has its own argument; write --time-step 0.001",
        ),
        ("run a.xml --set quadrature=centroid", "write --quadrature centroid"),
        ("compare a.xml --set normal_law=hertz", "write --normal-law hertz"),
        ("compare a.xml --set integrator=rk4", "'integrator' cannot be set, because the command"),
        ("run a.xml --set trace=true", "'trace' cannot be set, because the command chooses it"),
        ("run a.xml --set on_failure=raise", "'on_failure' cannot be set"),
    ],
)
def test_a_setting_with_an_argument_of_its_own_names_the_argument(
    arguments: str, message: str
) -> None:
    refusal = CliRunner().invoke(app, arguments.split(), standalone_mode=False).exception
    assert isinstance(refusal, typer.BadParameter)
    assert message in refusal.message


@pytest.mark.parametrize("command", ["run", "compare"])
def test_help_offers_only_settings_that_the_command_takes(command: str) -> None:
    (settings,) = [p for p in _find_params(command) if p.name == "settings"]
    offered = settings.help.split("several times. ")[1].rstrip(".").split(", ")
    arguments = {parameter.name for parameter in _find_params(command)}
    assert not arguments & set(offered)
    assert "gap_correction" in offered
    assert "trace" not in offered


def _find_params(command: str) -> list[Any]:
    group: Any = typer.main.get_command(app)
    return list(group.commands[command].params)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--tolerance 1", "is 1.0, must be in (0, 1)"),
        ("--tolerance nan", "is nan, must be in (0, 1)"),
        ("--num-threads 0", "is 0, must be in 1..1024"),
        ("--num-threads 1025", "is 1025, must be in 1..1024"),
    ],
)
def test_arguments_of_commands_have_the_range_of_their_option(arguments: str, message: str) -> None:
    line = ["run", "a.xml", *arguments.split()]
    refusal = CliRunner().invoke(app, line, standalone_mode=False).exception
    assert isinstance(refusal, typer.BadParameter)
    assert message in refusal.message


@pytest.mark.parametrize("arguments", ["--num-threads 1024", "--num-threads 1"])
def test_the_ends_of_a_closed_range_are_accepted(arguments: str) -> None:
    result = CliRunner().invoke(app, ["run", "no_such.xml", *arguments.split()])
    assert isinstance(result.exception, stiction.Error)
    assert "no_such.xml" in str(result.exception)


def test_the_page_of_options_lists_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.setattr(sys, "path", [str(DOCS / "extensions"), *sys.path])
    from option_table import group_options, make_list

    assert "```{options}\n```" in (DOCS / "options.md").read_text()
    items = make_list(OPTIONS.values()).children
    assert [item.children[0].astext() for item in items] == list(OPTIONS)
    for item, option in zip(items, OPTIONS.values(), strict=True):
        assert item.children[1].astext() == f"{option.help} {option.describe_values()}"
    groups = group_options()
    assert sorted(option.name for group in groups.values() for option in group) == sorted(OPTIONS)
    assert [option.name for option in groups["Rigid models"]] == [
        "lcp_solver", "friction_directions", "drop_separating",
    ]  # fmt: skip


def test_models_have_colors_of_their_own() -> None:
    colors = [find_color(name) for name in stiction.contact_models()]
    assert len(set(colors)) == len(colors)
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors)
    assert find_color("drake") == "#888888"


def test_lists_of_models_come_from_their_traits() -> None:
    traits = [contact_model_traits(name) for name in stiction.contact_models()]
    assert [t.name for t in traits if t.is_rigid] == stiction.rigid_contact_models()
    assert [t.name for t in traits if t.is_mj_step] == ["mujoco"]
    assert [t.name for t in traits if t.takes_laws] == OPTIONS["normal_law"].contact_models
    with pytest.raises(stiction.Error, match="did you mean 'lagged'"):
        contact_model_traits("laged")


@pytest.mark.parametrize("make", [stiction.Simulator, stiction.Batch, stiction.set_default])
def test_an_unknown_option_suggests_the_nearest_name(make: Any) -> None:
    """Every typing error and abbreviation that fits one name alone leads to this name."""
    arguments = (
        [] if make is stiction.set_default else [mujoco.MjModel.from_xml_string("<mujoco/>")]
    )
    if make is stiction.Batch:
        arguments.append(1)
    for name in OPTIONS:
        wrong = [name[:-1], name + "s", name.upper(), name[1:], "x" + name]
        wrong += [
            name[:length]
            for length in range(3, len(name))
            if sum(other.startswith(name[:length]) for other in OPTIONS) == 1
        ]
        for text in wrong:
            with pytest.raises(TypeError, match="there is no option") as caught:
                make(*arguments, **{text: 1})
            assert f"'{name}'" in str(caught.value), text
            assert len(str(caught.value)) < 200, "it lists all names"
