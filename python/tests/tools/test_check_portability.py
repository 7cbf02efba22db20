"""Tests that tools/check_portability.py finds what only some operating systems have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def check(*folders: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_portability.py", *folders],
        capture_output=True,
        text=True,
        check=False,
    )


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_this_repository_uses_operating_systems_in_base_only() -> None:
    result = check()
    assert result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize(
    "line",
    [
        "#include <unistd.h>",
        "#include <sys/resource.h>",
        "#include <fnmatch.h>",
        "# include <pthread.h>",
        "#ifdef _WIN32",
        "#if defined(__linux__) || defined(__APPLE__)",
    ],
)
def test_systems_are_refused_outside_base(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, "plant/a.cpp", f"#include <vector>\n{line}\n")
    result = check(tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"{path}:2: ")
    path.unlink()
    write(tmp_path, "base/a.cpp", f"#include <vector>\n{line}\n")
    assert check(tmp_path).returncode == 0


@pytest.mark.parametrize("name", ["hypot", "exp", "log1p", "atan2", "pow", "sin", "acosh", "log2"])
def test_functions_whose_bits_differ_are_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "plant/a.cpp", f"double f(double x) {{ return std::{name}(x); }}\n")
    result = check(tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"{path}:1: the bits of std::{name} differ")


@pytest.mark.parametrize(
    "line",
    [
        "double f(double x) { return std::sqrt(x) + std::floor(x) + math::exp(x); }",
        "#include <cmath>",
        "#include <mujoco/mujoco.h>",
        "#include <suitesparse/amd.h>",
        '#include "stiction/base/error.hpp"',
        "int x;  // Windows, or _WIN32, is not asked for here",
    ],
)
def test_standard_headers_and_libraries_are_allowed(tmp_path: Path, line: str) -> None:
    write(tmp_path, "math/a.hpp", f"{line}\n")
    result = check(tmp_path)
    assert result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize(
    "line",
    [
        "import fcntl",
        "from resource import getrusage",
        "from os import fork",
        "x = os.fork()",
        "signal.signal(signal.SIGHUP, f)",
        "signal.setitimer(0, 1)",
        "x = 1 if ready else os.getuid()",
    ],
)
def test_modules_and_functions_of_posix_are_refused(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, "a.py", f"import os, signal\n{line}\n")
    result = check(tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    "line",
    [
        "signal.signal(signal.SIGTERM, f)",
        "x = os.cpu_count()",
        "if sys.platform != 'win32': import fcntl",
        "if hasattr(os, 'register_at_fork'): os.register_at_fork()",
        "x = os.sched_getaffinity(0) if sys.platform == 'linux' else 1",
    ],
)
def test_guarded_and_portable_uses_are_allowed(tmp_path: Path, line: str) -> None:
    write(tmp_path, "a.py", f"import os, signal, sys\n{line}\n")
    result = check(tmp_path)
    assert result.stderr == ""
    assert result.returncode == 0


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    result = check(tmp_path / "none")
    assert result.returncode == 2
    assert "no such folder" in result.stderr
