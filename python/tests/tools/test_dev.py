"""`./dev` names what a command lacks or has too much, in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "dev"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Returns a folder that has the script and no environment."""
    (tmp_path / "dev").write_text(SCRIPT.read_text())
    return tmp_path


def run_dev(place: Path, *words: str) -> str:
    """Returns the error of a command."""
    done = subprocess.run(
        ["bash", place / "dev", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize("words", ["lint", "pytest python/tests", "fuzz --ci", "release 0.2.0"])
def test_a_part_without_its_environment_names_the_setup(place: Path, words: str) -> None:
    command = words.split()[0]
    assert run_dev(place, *words.split()) == (
        f"dev: {command} needs the environment .venv, which is not there; run ./dev setup first\n"
    )


@pytest.mark.parametrize("command", ["setup", "lint", "tidy", "format", "studies"])
def test_an_extra_word_is_refused(place: Path, command: str) -> None:
    assert run_dev(place, command, "a", "b") == (
        f"dev: {command} takes no argument, but has: a b; write: ./dev {command}\n"
    )


def test_all_takes_only_its_parts(place: Path) -> None:
    assert run_dev(place, "test", "--all", "lint") == (
        "dev: test takes no argument except --all and its part python, cpp or studies, but has: "
        "--all lint; write for example: ./dev test --all cpp\n"
    )


def call_function(place: Path, call: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Calls a function of the script."""
    (place / "dev").write_text(SCRIPT.read_text().partition("# ---- commands ---")[0])
    return subprocess.run(
        ["bash", "-c", f"source ./dev; {call}"],
        cwd=place,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_python_that_cannot_make_the_environment_is_named(place: Path) -> None:
    done = call_function(place, "find_python", PYTHON="/bin/false")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "dev: PYTHON=/bin/false is not a Python 3.11 or newer with venv and headers; "
        "set another one, or unset PYTHON\n"
    )


@pytest.mark.parametrize(("python", "code"), [("", 0), (sys.executable, 0), ("/bin/false", 1)])
def test_another_python_than_that_of_the_environment_is_refused(
    place: Path, python: str, code: int
) -> None:
    (place / ".venv" / "bin").mkdir(parents=True)
    (place / ".venv" / "made-in").write_text(f"{place}\n")
    (place / ".venv" / "bin" / "python").symlink_to(sys.executable)
    done = call_function(place, "make_venv", PYTHON=python)
    assert done.returncode == code, done.stderr
    assert ("delete .venv to make it with another one, or unset PYTHON" in done.stderr) == code


def test_the_long_tests_run_every_study_in_full_and_fail_with_any(place: Path) -> None:
    """A study that failed in silence would let its page say what the code no longer does."""
    for name in ("disk", "gripper", "rod"):
        folder = place / "python/stiction/evidence/studies" / name
        folder.mkdir(parents=True)
        (folder / "study.py").touch()
    program = place / ".venv/bin/stiction"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@" >>calls\n[ "$2" != gripper ]\n')
    program.chmod(0o755)
    done = call_function(place, 'jobs=1; echo "${studies_stages[@]}"; studies')
    assert done.returncode == 1, done.stderr
    stages, *lines = done.stdout.splitlines()
    assert "studies" in stages.split()
    assert lines == [
        "disk: ok",
        "gripper: FAILED with exit code 1, see build/logs/study-gripper.log",
        "rod: ok",
    ]
    calls = (place / "calls").read_text().splitlines()
    assert calls == [
        f"study {name} --out build/studies/{name}" for name in ("disk", "gripper", "rod")
    ]
    program.write_text("#!/bin/sh\n")
    assert call_function(place, "studies").returncode == 0


def test_a_build_says_how_far_it_is(place: Path) -> None:
    """Also a first build, whose output begins with that of CMake and ninja's look for new files."""
    lines = ["-- Configuring done", "[0/2] Re-checking globbed directories..."]
    lines += [f"[{i}/24] Building CXX object {i}.o" for i in range(1, 25)]
    text = "\\n".join(lines)
    shown = call_function(place, f"SECONDS=60; printf -- '{text}\\n' | show_build build.log")
    assert shown.returncode == 0, shown.stderr
    first, *_, last = shown.stdout.splitlines()
    assert first == "compiled 1 of 24 files"
    assert last.startswith("compiled in ")
    assert (place / "build.log").read_text().splitlines() == lines
