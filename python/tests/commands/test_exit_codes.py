"""Tests that every command has the same exit codes: 2 for what does not exist, 1 for what fails."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import stiction.cli
from stiction import Error
from stiction.commands.app import ExitCode, app
from stiction.inputs.package_scenes import list_scenes

BALL = (
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 .1'/><body name='ball' pos='0 0 .1'>"
    "<freejoint/><geom name='ball' size='.1'/></body></worldbody></mujoco>"
)

# For each command, arguments that name a file that is not there. None: the command takes no file.
MISSING_FILE: dict[str, tuple[str, ...] | None] = {
    "check": ("none.xml",),
    "compare": ("none.xml",),
    "contacts": ("none.mcap", "--out", "contacts.csv"),
    "converge": ("none.xml",),
    "convert": ("none.mcap", "--out", "foxglove.mcap"),
    "doctor": None,
    "explain": ("none.xml", "floor", "ball"),
    "grasp": ("none.xml", "ball"),
    "mesh": ("none.vtk",),
    "replay": ("none.mcap",),
    "run": ("none.xml",),
    "scorecard": ("--rows", "none.csv"),
    "study": ("disk", "--peers", "none"),
    "sweep": ("none.yaml",),
    "view": ("none.xml",),
    "bench batch": ("none.xml",),
    "bench clutter": ("--states", "none"),
    "bench corpus": ("none.xml",),
    "bench error_control": None,
    "bench heap": None,
    "bench lcp": ("--program", "none"),
    "bench patches": None,
    "bench rigid": ("--program", "none"),
    "bench scenes": ("none.xml",),
    "bench work_precision": None,
}

# Names that do not exist, of each kind.
UNKNOWN_NAMES = (
    "run nope",
    "check nope",
    "view nope",
    "sweep nope.yaml",
    "sweep scene.yaml",
    "explain ball.xml flor ball",
    "grasp ball.xml bal",
    "run ball.xml --contact-model sop",
    "run ball.xml --set tolerence=1",
    "run ball.xml --properties none.yaml",
    "scorecard --scene nope",
    "scorecard --engine nope",
    "scorecard --install nope",
    "study nope",
    "bench scenes nope",
    "bench batch nope",
    "bench corpus nope",
    "bench work_precision nope",
    "bench error_control nope",
    "mesh none.obj",
    "nope",
)

# Files that are there, and are no scene, recording, surface or configuration.
FAULTY_FILES = {
    "check": ("text.xml",),
    "compare": ("text.xml",),
    "contacts": ("text.mcap", "--out", "contacts.csv"),
    "converge": ("text.xml",),
    "convert": ("text.mcap", "--out", "foxglove.mcap"),
    "explain": ("text.xml", "floor", "ball"),
    "grasp": ("text.xml", "ball"),
    "mesh": ("text.vtk",),
    "replay": ("text.mcap",),
    "run": ("text.xml",),
    "sweep": ("text.yaml",),
    "view": ("text.xml",),
    "bench scenes": ("text.xml",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ball, a configuration that names a scene that is not there, and faulty files."""
    out = tmp_path_factory.mktemp("exit_codes")
    (out / "ball.xml").write_text(BALL)
    (out / "scene.yaml").write_text("scenes: nope\ncontact_models: sap\n")
    for suffix in ("xml", "mcap", "vtk"):
        (out / f"text.{suffix}").write_text("A text.\n")
    (out / "text.yaml").write_text("[")
    return out


@dataclass(frozen=True)
class Result:
    code: int
    stdout: str
    stderr: str


def run(arguments: tuple[str, ...], folder: Path) -> Result:
    """Runs the program in this process, which takes a hundredth of the time of a new one."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "argv", ["stiction", *arguments])
        patch.setenv("NO_COLOR", "1")
        code = stiction.cli._run_app()
    return Result(code, out.getvalue(), err.getvalue())


def expect(result: Result, code: ExitCode) -> None:
    """Expects an exit code, and messages that all begin as the page says."""
    assert result.code == code, result.stderr
    lines = result.stderr.splitlines()
    assert any(line.startswith("error: ") for line in lines), result.stderr
    assert all(line.startswith(("error: ", "warning: ")) for line in lines), result.stderr


def _list_commands(group: Any, *path: str) -> list[str]:
    if not hasattr(group, "commands"):
        return [" ".join(path)]
    return [c for name, inner in group.commands.items() for c in _list_commands(inner, *path, name)]


COMMANDS = _list_commands(typer.main.get_command(app))


def test_every_command_is_in_the_table() -> None:
    assert sorted(MISSING_FILE) == sorted(COMMANDS)


@pytest.mark.parametrize("command", [c for c, arguments in MISSING_FILE.items() if arguments])
def test_a_file_that_does_not_exist_exits_with_2(command: str, folder: Path) -> None:
    arguments = MISSING_FILE[command] or ()
    result = run((*command.split(), *arguments, "--json"), folder)
    expect(result, ExitCode.USAGE)
    missing = next(argument for argument in arguments if argument.startswith("none"))
    assert missing in result.stderr
    assert json.loads(result.stdout)["error"]["code"] in ("file_not_found", "usage")


@pytest.mark.parametrize("line", UNKNOWN_NAMES)
def test_a_name_that_does_not_exist_exits_with_2(line: str, folder: Path) -> None:
    expect(run(tuple(line.split()), folder), ExitCode.USAGE)


@pytest.mark.parametrize("command", FAULTY_FILES)
def test_a_file_that_is_faulty_exits_with_1(command: str, folder: Path) -> None:
    expect(run((*command.split(), *FAULTY_FILES[command]), folder), ExitCode.FAILURE)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_exits_with_2_and_one_line(command: str, folder: Path) -> None:
    result = run((*command.split(), "--no-such-option", "--json"), folder)
    expect(result, ExitCode.USAGE)
    (line,) = result.stderr.splitlines()
    assert "--no-such-option" in line and f"{command} --help" in line
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "usage" and "--no-such-option" in error["message"]


def test_a_missing_argument_exits_with_2_and_one_line(folder: Path) -> None:
    result = run(("run",), folder)
    expect(result, ExitCode.USAGE)
    assert (
        result.stderr
        == "error: missing argument 'SCENE'; stiction run --help lists what it takes\n"
    )


def test_a_wrong_value_names_its_option(folder: Path) -> None:
    result = run(("run", "ball.xml", "--contact-model", "sop", "--json"), folder)
    error = json.loads(result.stdout)["error"]
    assert error["where"] == "--contact-model"
    assert "no contact model 'sop' (did you mean 'sap'?)" in error["message"]


def test_ctrl_c_gives_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stiction.view.film.film_sessions", interrupt)
    result = run(("view", "ball.xml", "--html", "page.html"), folder)
    assert (result.code, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_an_empty_name_of_a_file_is_called_empty(folder: Path) -> None:
    result = run(("view", "ball.xml", "--html", ""), folder)
    expect(result, ExitCode.USAGE)
    assert result.stderr == (
        "error: --html: the name of the file is empty; stiction view --help lists what it takes\n"
    )


def test_a_scorecard_without_runs_leaves_no_new_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new"
    result = run(("scorecard", "--only-page", "--out", str(out)), folder)
    expect(result, ExitCode.USAGE)
    assert "has no runs; run stiction scorecard first" in result.stderr
    assert not out.exists()


def test_a_file_that_cannot_be_written_exits_with_1(folder: Path) -> None:
    for arguments in (
        ("run", "ball.xml", "--duration", "4ms", "--record", "ball.xml/run.mcap"),
        ("view", "ball.xml", "--duration", "40ms", "--html", "ball.xml/page.html"),
    ):
        expect(run(arguments, folder), ExitCode.FAILURE)


@pytest.mark.parametrize("command", ["run", "check", "compare", "converge", "view"])
def test_commands_take_names_of_scenes_of_the_package(command: str, folder: Path) -> None:
    further = {
        "run": ("--duration", "4ms"),
        "compare": ("--duration", "4ms", "--contact-model", "sap"),
        "converge": ("--duration", "12ms", "--contact-model", "sap", "--steps", "3"),
        "view": ("--duration", "40ms", "--html", "pinch.html"),
    }
    result = run((command, "pinch", *further.get(command, ())), folder)
    assert "pinch" in result.stdout, result.stderr
    # `check` finds something in this scene, and no step reaches the accuracy of `converge`.
    assert result.code in (0, 1) and "error: pinch" not in result.stderr


def test_an_unknown_scene_lists_those_of_the_package(folder: Path) -> None:
    for command in ("run", "check", "view"):
        result = run((command, "nope"), folder)
        assert all(f"'{name}'" in result.stderr for name in list_scenes())
    assert "did you mean the scene 'pinch'" in run(("run", "scenes/pinch.xml"), folder).stderr


def test_the_code_of_an_error_is_that_of_its_kind() -> None:
    assert ExitCode.of_error(Error("file_not_found", "a.xml", "")) == ExitCode.USAGE
    assert ExitCode.of_error(Error("unknown_name", "body", "")) == ExitCode.USAGE
    assert ExitCode.of_error(Error("invalid_value", "a.xml", "")) == ExitCode.FAILURE


def test_help_ends_with_0_and_no_command_prints_it() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["--help"]).exit_code == 0
    for command in COMMANDS:
        assert runner.invoke(app, [*command.split(), "--help"]).exit_code == 0
