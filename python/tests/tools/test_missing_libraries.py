"""Tests that a build without its libraries says which Debian packages have them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DEBIAN = {
    "Eigen3": "libeigen3-dev",
    "yaml-cpp": "libyaml-cpp-dev",
    "tinyxml2": "libtinyxml2-dev",
    "Amd": "libsuitesparse-dev",
}


@pytest.mark.parametrize("missing", [["Amd"], ["Eigen3", "tinyxml2"], list(DEBIAN)], ids=len)
def test_all_missing_libraries_are_named_at_once(missing: list[str], tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(packages LANGUAGES CXX)\n"
        f"list(APPEND CMAKE_MODULE_PATH {ROOT}/cmake)\ninclude(StictionPackages)\n"
    )
    disable = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in missing]
    result = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build", *disable],
        capture_output=True,
        text=True,
        check=False,
    )
    text = " ".join(result.stderr.split())
    assert result.returncode != 0
    assert f"These libraries were not found: {', '.join(missing)}." in text
    assert f"'apt-get install {' '.join(DEBIAN[name] for name in missing)}'" in text


def test_a_build_without_mujoco_names_the_python_and_both_remedies(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(mujoco_only LANGUAGES NONE)\n"
        f"list(APPEND CMAKE_MODULE_PATH {ROOT}/cmake)\n"
        "find_package(MuJoCo 4.0.0...<4.1 REQUIRED)\n"
    )
    package = tmp_path / "old" / "include" / "mujoco"
    package.mkdir(parents=True)
    (package / "mujoco.h").write_text("#define mjVERSION_HEADER 3001000\n")
    python = tmp_path / "python"  # without the package
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    for argument, reason in (
        (f"-DPython_EXECUTABLE={python}", f"{python} has no package mujoco"),
        (f"-DMuJoCo_DIR={tmp_path / 'old'}", "has version 3.1.0"),
    ):
        result = subprocess.run(
            ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "--fresh", argument],
            capture_output=True,
            text=True,
            check=False,
        )
        text = " ".join(result.stderr.split())
        assert result.returncode != 0
        assert reason in text
        assert "set -DPython_EXECUTABLE=/path/to/python to the Python that has it" in text
        assert "-DMuJoCo_DIR=FOLDER to the folder of the package" in text
