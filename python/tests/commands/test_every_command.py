"""Tests what all commands have in common: options, exit codes, messages, colors and pages.

The exit code is 2 for what does not exist, and 1 for what fails.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.rich_utils
from typer.testing import CliRunner

import stiction.cli
from stiction import Error
from stiction.commands.app import ExitCode, app
from stiction.commands.help_texts import EXAMPLES
from stiction.inputs.package_scenes import list_scenes

PAGE = Path(__file__).parents[3] / "docs/command_line.md"

BALL = (
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 .1'/><body name='ball' pos='0 0 .1'>"
    "<freejoint/><geom name='ball' size='.1'{condim}/></body></worldbody></mujoco>"
)


def _list_commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the words and the object of every command, without the groups."""
    if not hasattr(group, "commands"):
        yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from _list_commands(command, *path, name)


COMMANDS = dict(_list_commands(typer.main.get_command(app)))

# Arguments with which a command ends after a moment; FILE is the ball, NONE is a file that is not there.
# Commands without an entry are the benchmarks, which have arguments but no short run.
SHORT: dict[tuple[str, ...], tuple[str, ...]] = {
    ("check",): ("FILE", "--contact-model", "sap"),
    ("compare",): ("FILE", "--contact-model", "sap", "--duration", "6ms", "--html", "OUT.html"),
    ("contacts",): ("RECORDING", "--out", "contacts.csv"),
    ("converge",): ("FILE", "--contact-model", "sap", "--duration", "6ms", "--steps", "3"),
    ("convert",): ("RECORDING", "--out", "foxglove.mcap"),
    ("doctor",): (),
    ("explain",): ("FILE", "floor", "ball", "--contact-model", "sap"),
    ("grasp",): ("FILE", "ball", "--contact-model", "sap", "--duration", "6ms"),
    ("run",): ("FILE", "--contact-model", "sap", "--duration", "6ms"),
    ("replay",): ("RECORDING",),
    ("view",): ("FILE", "--contact-model", "sap", "--duration", "80ms", "--html", "page.html"),
}


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
    """A folder with balls, a recording, a configuration of a missing scene, and faulty files."""
    out = tmp_path_factory.mktemp("commands")
    (out / "ball.xml").write_text(BALL.format(condim=""))
    (out / "rolling.xml").write_text(BALL.format(condim=" condim='6'"))
    (out / "scene.yaml").write_text("scenes: nope\ncontact_models: sap\n")
    for suffix in ("xml", "mcap", "vtk"):
        (out / f"text.{suffix}").write_text("A text.\n")
    (out / "text.yaml").write_text("[")
    run(("run", "rolling.xml", "--duration", "6ms", "--record", "run.mcap"), out)
    return out


@dataclass(frozen=True)
class Result:
    code: int
    stdout: str
    stderr: str


def run(arguments: tuple[str, ...], folder: Path, **environment: str) -> Result:
    """Runs the program in this process, which takes a tenth of the time of a new one."""
    names = {"FILE": "rolling.xml", "RECORDING": "run.mcap", "OUT.html": "out.html"}
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "argv", ["stiction", *(names.get(a, a) for a in arguments)])
        patch.setenv("NO_COLOR", "1")
        for name, value in environment.items():
            patch.setenv(name, value)
        code = stiction.cli._run_app()
    return Result(code, out.getvalue(), err.getvalue())


def run_program(
    arguments: tuple[str, ...], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stiction", *arguments],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def expect(result: Result, code: ExitCode) -> None:
    """Expects an exit code, and messages that all begin as the page says."""
    assert result.code == code, result.stderr
    lines = result.stderr.splitlines()
    assert any(line.startswith("error: ") for line in lines), result.stderr
    assert all(line.startswith(("error: ", "warning: ")) for line in lines), result.stderr


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_the_common_options(path: tuple[str, ...]) -> None:
    options = {name for parameter in COMMANDS[path].params for name in parameter.opts}
    assert {"--json", "--quiet", "-q"} <= options


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_documents_its_exit_codes(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typer.rich_utils, "MAX_WIDTH", 1000)
    shown = " ".join(CliRunner().invoke(app, [*path, "--help"]).stdout.split())
    codes = re.search(r"Exit codes: (.*?)\.( |$)", shown)
    assert codes, shown
    assert all(re.search(rf"\b{code}\b", codes[1]) for code in (0, 1, 2))


def test_every_command_has_a_short_run_or_is_long() -> None:
    long = {("mesh",), ("scorecard",), ("study",), ("sweep",)}
    assert {path for path in COMMANDS if path[0] != "bench"} - long == SHORT.keys()


@pytest.mark.parametrize("name", sorted({path[0] for path in COMMANDS}))
def test_the_page_of_commands_has_a_row_for_every_command(name: str) -> None:
    assert f"| `stiction {name}" in PAGE.read_text()


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("check", "tools/check.md"),
        ("compare", "compare.md"),
        ("converge", "tools/converge.md"),
        ("study", "studies.md"),
        ("view", "viewer.md"),
    ],
)
def test_the_page_of_a_command_has_every_option(name: str, page: str) -> None:
    text = (PAGE.parent / page).read_text()
    options = {option for each in COMMANDS[name,].params for option in each.opts}
    options = {option for option in options if option.startswith("--")} - {"--help", "--quiet"}
    assert {option for option in options if not re.search(rf"{option}(?![\w-])", text)} == set()


def test_the_page_of_commands_has_every_exit_code() -> None:
    column = re.findall(r"^\| ([\d, ]+) \|", PAGE.read_text(), re.MULTILINE)
    assert {int(code) for cell in column for code in cell.split(",")} == {*map(int, ExitCode)}


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "FILE", "--contact-model", "sop"),
        ("explain", "FILE", "flor", "ball"),
        ("grasp", "FILE", "bal"),
        ("scorecard", "--scene", "held_cub"),
        ("scorecard", "--engine", "stiction coulom"),
        ("study", "spatul"),
    ],
    ids=" ".join,
)
def test_a_misspelt_name_is_wrong_usage(arguments: tuple[str, ...], folder: Path) -> None:
    result = run(arguments, folder)
    expect(result, ExitCode.USAGE)
    assert "did you mean" in " ".join(result.stderr.split())


def test_every_command_is_in_the_table() -> None:
    assert sorted(MISSING_FILE) == sorted(" ".join(path) for path in COMMANDS)


@pytest.mark.parametrize("command", [c for c, arguments in MISSING_FILE.items() if arguments])
def test_a_file_that_does_not_exist_exits_with_2(command: str, folder: Path) -> None:
    arguments = MISSING_FILE[command] or ()
    result = run((*command.split(), *arguments, "--json", "--quiet"), folder)
    expect(result, ExitCode.USAGE)
    missing = next(argument for argument in arguments if argument.startswith("none"))
    assert missing in result.stderr
    codes = ("file_not_found",) if (command,) in SHORT else ("file_not_found", "usage")
    assert json.loads(result.stdout)["error"]["code"] in codes


@pytest.mark.parametrize("line", UNKNOWN_NAMES)
def test_a_name_that_does_not_exist_exits_with_2(line: str, folder: Path) -> None:
    expect(run(tuple(line.split()), folder), ExitCode.USAGE)


@pytest.mark.parametrize("command", FAULTY_FILES)
def test_a_file_that_is_faulty_exits_with_1(command: str, folder: Path) -> None:
    expect(run((*command.split(), *FAULTY_FILES[command]), folder), ExitCode.FAILURE)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_unknown_option_exits_with_2_and_one_line(path: tuple[str, ...], folder: Path) -> None:
    result = run((*path, "--no-such-option", "--json"), folder)
    expect(result, ExitCode.USAGE)
    (line,) = result.stderr.splitlines()
    assert "--no-such-option" in line and f"{' '.join(path)} --help" in line
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
    assert (result.code, result.stdout, result.stderr) == (130, "", "error: interrupted\n")


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


@pytest.mark.parametrize("path", SHORT, ids=" ".join)
def test_quiet_prints_nothing_but_errors(path: tuple[str, ...], folder: Path) -> None:
    loud = run((*path, *SHORT[path]), folder)
    quiet = run((*path, *SHORT[path], "--quiet"), folder)
    assert loud.stdout
    assert quiet.stdout == ""
    assert quiet.code == loud.code
    # The ball has condim 6, which sap ignores: a warning, which --quiet hides. Errors stay.
    assert not any(line.startswith("warning:") for line in quiet.stderr.splitlines())
    errors = [line for line in loud.stderr.splitlines() if line.startswith("error:")]
    assert [line for line in quiet.stderr.splitlines() if line.startswith("error:")] == errors


@pytest.mark.parametrize("path", SHORT, ids=" ".join)
def test_json_is_one_object_also_with_quiet(path: tuple[str, ...], folder: Path) -> None:
    for further in (("--json",), ("--json", "--quiet")):
        result = run((*path, *SHORT[path], *further), folder)
        assert isinstance(json.loads(result.stdout), dict), result.stderr


@pytest.mark.parametrize("path", SHORT, ids=" ".join)
def test_no_color_is_obeyed(path: tuple[str, ...], folder: Path) -> None:
    result = run((*path, *SHORT[path]), folder, NO_COLOR="1", FORCE_COLOR="1")
    assert not re.search(
        r"\x1b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-7])[0-9;]*m", result.stdout + result.stderr
    )


def complete(words: str) -> list[str]:
    program = Path(sys.executable).parent / "stiction"
    result = subprocess.run(
        [program],
        env={**os.environ, "_STICTION_COMPLETE": "complete_bash", "COMP_WORDS": words,
             "COMP_CWORD": str(len(words.split(" ")) - 1)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return result.stdout.split()


def test_shells_complete_every_command() -> None:
    assert {path[0] for path in COMMANDS} <= set(complete("stiction "))
    assert {path[1] for path in COMMANDS if path[0] == "bench"} <= set(complete("stiction bench "))


@pytest.mark.slow
def test_shells_complete_options_and_names() -> None:
    assert "--accuracy" in complete("stiction converge --acc")
    assert complete("stiction run --contact-model lag") == ["lagged", "lagged_regularized"]
    assert "no_slip" in complete("stiction grasp --contact-model no")
    assert complete("stiction run pin") == ["pinch"]
    assert complete("stiction study fall") == ["falling_sphere"]
    assert complete("stiction run pinch --set stic") == ["stiction_tolerance="]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_that_it_takes(path: tuple[str, ...], folder: Path) -> None:
    command = COMMANDS[path]
    lines = EXAMPLES[path[-1]]
    text = re.sub(r"[│╭╮╰╯─]", " ", run((*path, "--help"), folder, COLUMNS="200").stdout)
    for line in lines:
        assert line in text
        words = shlex.split(line)
        assert tuple(words[1 : 1 + len(path)]) == path
        with contextlib.suppress(typer.Exit):
            command.make_context("stiction", words[1 + len(path) :])


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_paragraphs_of_help_are_broken_at_the_width_of_the_terminal(path: tuple[str, ...]) -> None:
    """The help has a line for each paragraph, which the terminal breaks, and one for each example."""
    for paragraph in COMMANDS[path].help.split("\n\n"):
        first, *rest = paragraph.splitlines()
        assert not rest or (first.startswith("Example") and all(x.startswith("    ") for x in rest))


def test_the_table_of_the_doctor_fits_on_a_page_also_in_a_pipe(folder: Path) -> None:
    lines = run(("doctor",), folder).stdout.splitlines()
    assert len(lines) > 10 and max(map(len, lines)) <= 120


def test_the_doctor_finds_everything_that_is_needed(folder: Path) -> None:
    result = run(("doctor", "--json"), folder)
    figures = json.loads(result.stdout)
    assert result.code == 0 and figures["ok"], result.stderr
    found = {entry["name"]: entry for entry in figures["found"]}
    for name in ("stiction", "python", "mujoco", "processor", "step, coulomb", "temporary files"):
        assert found[name]["status"] == "ok"
    assert "extra gym" in found
    assert all(entry["remedy"] for entry in found.values() if entry["status"] != "ok")


def test_the_doctor_names_a_remedy_for_a_folder_without_access(folder: Path) -> None:
    result = run_program(("doctor",), folder, MPLCONFIGDIR="/proc/none")
    assert result.returncode == 1
    assert "matplotlib's cache: /proc/none" in result.stderr
    assert "set MPLCONFIGDIR to a folder that can be written" in result.stderr


def test_the_doctor_finds_a_floor_that_does_not_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    from stiction.analysis import doctor

    monkeypatch.setattr(doctor, "_BALL", doctor._BALL.replace("0 0 .0999", "0 0 9"))
    steps = [entry for entry in doctor.examine() if entry.name.startswith("step")]
    assert [entry.status for entry in steps] == ["failed"] * 4
    assert "the floor carries 0 N" in steps[0].text and "report this line" in steps[0].remedy
