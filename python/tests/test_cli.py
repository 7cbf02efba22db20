"""The command line as a whole: what holds for every command."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import pytest

import stiction


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from stiction.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def test_version_names_both() -> None:
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.strip() == f"stiction {stiction.__version__}, MuJoCo {mujoco.__version__}"


@pytest.mark.parametrize("arguments", [("bogus",), ("run",), ("run", "a.xml", "--bogus")])
def test_usage_errors_exit_with_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_commands_do_not_wait_for_matplotlib() -> None:
    code = "import sys, stiction.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_file_exits_with_1_and_names_it() -> None:
    result = run("run", "no_such_scene.xml")
    assert result.returncode == 1
    assert result.stderr.strip() == "error: no_such_scene.xml: there is no such file"
