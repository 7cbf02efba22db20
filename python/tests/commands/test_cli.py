"""Tests of the command line that hold for every command."""

from __future__ import annotations

import csv
import html
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import pytest
import typer
import typer.rich_utils
from typer.testing import CliRunner

import stiction
import stiction.cli  # registers the commands
import stiction.commands.output as output
from stiction.commands.app import app

STICTION = Path(sys.executable).parent / "stiction"
BALL = (
    "<mujoco>{option}<worldbody><geom name='floor' type='plane' size='1 1 .1'/><body pos='0 0 1'>"
    "<freejoint/><geom name='a_ball_with_a_name_that_takes_room' size='.1'/></body></worldbody>"
    "</mujoco>"
)


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    path = tmp_path / "ball.xml"
    path.write_text(BALL.format(option=""))
    return path


def expect_one_line(result: subprocess.CompletedProcess[str], *parts: str, code: int = 1) -> None:
    """Expects an exit code and one line on standard error that contains the parts."""
    assert result.returncode == code, result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr
    for part in parts:
        assert part in result.stderr


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash, with `stiction` on its path."""
    env = {**os.environ, "PATH": f"{STICTION.parent}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from stiction.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


HOSTILE = "[bold]ball[/bold][link=http://evil.example]:smile:\x1b[31m"
ESCAPED = HOSTILE.replace("\x1b", "\\x1b")


@pytest.mark.parametrize(
    ("command", "arguments", "shown"),
    [
        ("run", ("--duration", "20ms"), (ESCAPED, "[bold]scene.xml")),
        ("compare", ("--duration", "20ms", "--contact-model", "sap"), (ESCAPED, "[bold]scene.xml")),
        ("explain", ("floor", HOSTILE), (ESCAPED,)),
        ("grasp", (HOSTILE, "--duration", "20ms"), (ESCAPED,)),
        ("check", (), ("[bold]scene.xml",)),
        ("converge", ("--duration", "6ms", "--steps", "3"), ("[bold]scene.xml",)),
    ],
)
def test_names_are_printed_as_they_are(
    command: str,
    arguments: tuple[str, ...],
    shown: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names of a scene are neither markup nor links nor emojis nor codes of a terminal."""
    monkeypatch.chdir(tmp_path)
    name = HOSTILE.replace("\x1b", "&#27;")
    scene = tmp_path / "[bold]scene.xml"
    scene.write_text(
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 .1'/>"
        f"<body name='{name}' pos='0 0 .1'><freejoint/><geom name='{name}' size='.1'/></body>"
        "</worldbody></mujoco>"
    )
    result = CliRunner().invoke(app, [command, scene.name, *arguments], standalone_mode=False)
    assert result.exception is None, result.output
    assert "\x1b" not in result.output
    assert [text for text in shown if text not in result.output] == []


def test_all_consoles_print_names_as_they_are() -> None:
    package = Path(stiction.__file__).parent
    makers = [p for p in package.rglob("*.py") if re.search(r"\bConsole\(", p.read_text())]
    assert makers == []  # PlainConsole of commands/output.py is the only one


@pytest.mark.parametrize("begin", "=+-@\t\r")
def test_cells_of_csv_are_no_formulas(begin: str, tmp_path: Path) -> None:
    name = f"{begin}cmd|' /C calc'!A0"
    escaped = html.escape(name).replace("\t", "&#9;").replace("\r", "&#13;")
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 .1'/><body pos='0 0 .1'>"
        f'<freejoint/><geom name="{escaped}" size=".1"/></body></worldbody></mujoco>'
    )
    assert model.geom(1).name == name
    recording, table = tmp_path / "run.mcap", tmp_path / "run.csv"
    with stiction.Recorder(recording, stiction.Simulator(model)) as recorder:
        recorder.step(mujoco.MjData(model))
    arguments = ["contacts", str(recording), "--out", str(table)]
    result = CliRunner().invoke(app, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows and {row["geom2_name"] for row in rows} == {f"'{name}"}


@pytest.mark.slow
def test_version_prints_stictions_and_mujocos_version() -> None:
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.strip() == f"stiction {stiction.__version__}, MuJoCo {mujoco.__version__}"


@pytest.mark.slow
def test_the_command_line_does_not_load_matplotlib() -> None:
    code = "import sys, stiction.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_file_exits_with_2_and_its_name() -> None:
    expect_one_line(
        run("run", "no_such.xml"),
        "error: no_such.xml: there is no such file; these scenes come with the package",
        "'arch', 'bubble_gripper', 'cards', 'dry_joint', 'fingertip', ",
        code=2,
    )


def _find_commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the words and the object of every command, and of the groups themselves."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from _find_commands(command, *path, name)


_COMMANDS = dict(_find_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", _COMMANDS, ids=" ".join)
def test_help_shows_all_words_in_brackets(path: tuple[str, ...], monkeypatch: Any) -> None:
    command = _COMMANDS[path]
    sources = [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]
    words = re.findall(r"\[[^\]]+\]", " ".join(filter(None, sources)).replace("\\[", "["))
    monkeypatch.setattr(typer.rich_utils, "MAX_WIDTH", 1000)  # no line breaks inside brackets
    result = CliRunner().invoke(app, [*path, "--help"])
    assert result.exit_code == 0
    shown = result.stdout
    assert [word for word in words if word not in shown] == []


@pytest.mark.slow
def test_help_shows_units_and_extras() -> None:
    shown = run("mesh", "--help").stdout
    for words in ("stiction[mesh]", "tet mesh [m]", "modulus [Pa]"):
        assert words in " ".join(shown.replace("│", " ").split())


@pytest.mark.slow
def test_python_m_is_the_same_program() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "stiction", "run", "no_such.xml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    expect_one_line(result, "error: no_such.xml: there is no such file", code=2)


def test_a_mujoco_that_cannot_be_imported_gives_one_line(tmp_path: Path) -> None:
    (tmp_path / "mujoco").mkdir()
    (tmp_path / "mujoco" / "__init__.py").write_text("raise ImportError('Version mismatch')")
    result = shell(f"PYTHONPATH='{tmp_path}' stiction --version", tmp_path)
    expect_one_line(result, "error: MuJoCo cannot be imported (Version mismatch)")


def test_ctrl_c_during_loading_gives_one_line(tmp_path: Path) -> None:
    (tmp_path / "mujoco").mkdir()
    (tmp_path / "mujoco" / "__init__.py").write_text(
        "import pathlib, time; pathlib.Path('loading').touch(); time.sleep(60)"
    )
    process = subprocess.Popen(
        [STICTION, "--version"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (tmp_path / "loading").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == ("", "interrupted\n")
    assert process.returncode == 130


COMMANDS = (
    "run ball.xml --duration 4ms",
    "run ball.xml --duration 4ms --json",
    "explain ball.xml floor floor",
    "--help",
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_standard_output_gives_one_line(command: str, ball: Path) -> None:
    result = shell(f"stiction {command} >/dev/full", ball.parent)
    expect_one_line(result, "error: standard output: cannot be written: No space left on device")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_pipe_gives_no_message(command: str, ball: Path) -> None:
    result = shell(f"stiction {command} | true", ball.parent)
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (b"n" * 300, "nnn...: cannot be opened: file name too long"),
        (b"n" * 5000, "nnn...: cannot be opened: file name too long"),
        (b"c\xff", "is not UTF-8; rename the file"),
    ],
)
def test_impossible_file_names_give_one_line(name: bytes, message: str, ball: Path) -> None:
    if len(name) < 10:
        (ball.parent / os.fsdecode(name + b".xml")).write_bytes(ball.read_bytes())
    for arguments in (
        (b"run", name + b".xml"),
        (b"compare", name + b".xml"),
        (b"replay", name + b".mcap"),
        (b"run", b"ball.xml", b"--record", name + b".mcap"),
        (b"run", b"ball.xml", b"--properties", name + b".yaml"),
        (b"compare", b"ball.xml", b"--html", name + b".html"),
        (b"compare", b"ball.xml", b"--out", name),
    ):
        result = subprocess.run(
            [STICTION, *arguments], cwd=ball.parent, capture_output=True, text=True, check=False
        )
        expect_one_line(result, "error: ", message)


@pytest.mark.slow
def test_a_folder_is_not_a_recording(tmp_path: Path) -> None:
    expect_one_line(run("replay", str(tmp_path)), f"error: {tmp_path}: is not a file", code=2)


@pytest.mark.slow
def test_control_characters_of_a_name_do_not_reach_the_terminal() -> None:
    result = run("run", "black\x1b[31m.xml")
    expect_one_line(result, r"error: black\x1b[31m.xml: there is no such file", code=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "duration"), [("", "1e308"), ("<option timestep='1e-300'/>", "0.02s")]
)
def test_runs_that_never_end_are_refused(option: str, duration: str, tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(BALL.format(option=option))
    for command in ("run", "compare"):
        result = shell(f"stiction {command} ball.xml --duration {duration}", tmp_path)
        expect_one_line(result, "error: duration: ", " s with a time step of ", "than the 1e+12")


@pytest.mark.slow
@pytest.mark.parametrize("size", ["0", "20", "1000000000"])
def test_wrong_sizes_of_clutter_are_usage_errors(size: str) -> None:
    result = run("bench", "clutter", "--bodies", size)
    assert result.returncode == 2
    assert "must be 10 times a square number up to 100^2" in " ".join(
        result.stderr.replace("│", " ").split()
    )


@pytest.mark.slow
def test_tables_in_pipes_are_not_cut(ball: Path) -> None:
    line = "stiction explain ball.xml floor a_ball_with_a_name_that_takes_room"
    for columns in ("", "COLUMNS=30 "):
        table = shell(columns + line, ball.parent).stdout.splitlines()
        (friction,) = (row for row in table if row.startswith("friction "))
        assert "floor" in friction
        assert "a_ball_with_a_name_that_takes_room" in friction


def test_tables_on_narrow_terminals_have_120_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    assert output.make_console().width == 120
    monkeypatch.setenv("COLUMNS", "200")
    assert output.make_console().width == 200


@pytest.mark.slow
def test_h_is_help_everywhere() -> None:
    for command in ((), ("run",), ("study", "pancake")):
        result = run(*command, "-h")
        assert result.returncode == 0 and "Usage" in result.stdout


@pytest.mark.slow
def test_names_are_suggested_whatever_their_case(ball: Path) -> None:
    for wrong, right in (("SAP", "sap"), ("Lagged", "lagged"), ("NO_SLIP", "no_slip")):
        result = run("run", str(ball), "--contact-model", wrong)
        assert result.returncode == 2
        assert f"did you mean '{right}'?" in " ".join(result.stderr.split())


@pytest.mark.slow
def test_a_file_that_is_no_scene_is_named(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# Stiction\n\nA <b>text</b>.\n")
    result = run("run", str(readme))
    assert result.returncode == 1
    assert "README.md: is not a scene, because it begins with '# Stiction'" in result.stderr
