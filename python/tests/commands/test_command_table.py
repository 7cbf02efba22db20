"""Tests what all commands have in common, for each command of the table: options, exit codes, colors."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
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
from stiction.commands.app import ExitCode, app

PAGE = Path(__file__).parents[3] / "docs/command_line.md"

BALL = (
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 .1'/><body name='ball' pos='0 0 .1'>"
    "<freejoint/><geom name='ball' size='.1' condim='6'/></body></worldbody></mujoco>"
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the ball and a recording of it."""
    out = tmp_path_factory.mktemp("commands")
    (out / "ball.xml").write_text(BALL)
    run(("run", "ball.xml", "--duration", "6ms", "--record", "run.mcap"), out)
    return out


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


def run(arguments: tuple[str, ...], folder: Path, **environment: str) -> Result:
    """Runs the program in this process, which takes a tenth of the time of a new one."""
    names = {"FILE": "ball.xml", "RECORDING": "run.mcap", "OUT.html": "out.html"}
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "argv", ["stiction", *(names.get(a, a) for a in arguments)])
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


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_refuses_an_unknown_option_with_2(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*path, "--no-such-option"])
    assert result.exit_code == 2


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
    assert result.returncode == ExitCode.USAGE, result.stderr
    assert "did you mean" in " ".join(result.stderr.split())


@pytest.mark.parametrize("path", SHORT, ids=" ".join)
def test_quiet_prints_nothing_but_errors(path: tuple[str, ...], folder: Path) -> None:
    loud = run((*path, *SHORT[path]), folder)
    quiet = run((*path, *SHORT[path], "--quiet"), folder)
    assert loud.stdout
    assert quiet.stdout == ""
    assert quiet.returncode == loud.returncode
    # The ball has condim 6, which sap ignores: a warning, which --quiet hides. Errors stay.
    assert not any(line.startswith("warning:") for line in quiet.stderr.splitlines())
    errors = [line for line in loud.stderr.splitlines() if line.startswith("error:")]
    assert [line for line in quiet.stderr.splitlines() if line.startswith("error:")] == errors


@pytest.mark.parametrize("path", SHORT, ids=" ".join)
def test_json_is_one_object_also_with_quiet(path: tuple[str, ...], folder: Path) -> None:
    for further in (("--json",), ("--json", "--quiet")):
        result = run((*path, *SHORT[path], *further), folder)
        assert isinstance(json.loads(result.stdout), dict), result.stderr


@pytest.mark.parametrize("path", [path for path in SHORT if SHORT[path]], ids=" ".join)
def test_json_has_the_error_of_a_missing_file(path: tuple[str, ...], folder: Path) -> None:
    suffix = ".mcap" if SHORT[path][0] == "RECORDING" else ".xml"
    result = run((*path, f"none{suffix}", *SHORT[path][1:], "--json", "--quiet"), folder)
    assert result.returncode == ExitCode.USAGE
    assert json.loads(result.stdout)["error"]["code"] == "file_not_found"
    assert "there is no such file" in result.stderr


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


def test_the_doctor_finds_everything_that_is_needed(folder: Path) -> None:
    result = run(("doctor", "--json"), folder)
    figures = json.loads(result.stdout)
    assert result.returncode == 0 and figures["ok"], result.stderr
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
