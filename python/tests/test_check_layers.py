"""tools/check_layers.py finds includes that go upwards, and where they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_layers.py", root],
        capture_output=True,
        text=True,
        check=False,
    )


def write(root: Path, name: str, *includes: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#pragma once\n" + "".join(f"#include {i}\n" for i in includes))


def test_this_repository_has_no_upward_include() -> None:
    result = check(ROOT / "src" / "stiction")
    assert result.stderr == ""
    assert result.returncode == 0


def test_own_and_lower_folders_may_be_included(tmp_path: Path) -> None:
    write(
        tmp_path,
        "plant/a.hpp",
        "<vector>",
        "<mujoco/mujoco.h>",
        '"stiction/plant/b.hpp"',
        '"stiction/math/b.hpp"',
    )
    assert check(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("name", "include", "fault"),
    [
        ("math/a.hpp", '"stiction/contact/b.hpp"', "math must not include contact"),
        ("plant/a.cpp", "<stiction/sim/b.hpp>", "plant must not include sim"),
        ("contact/a.cpp", "<mujoco/mujoco.h>", "knows no MuJoCo"),
        ("certificate/a.cpp", '"stiction/laws/b.hpp"', "certificate must not include laws"),
        ("formulations/rigid/a.cpp", '"stiction/certificate/b.hpp"', "which verifies its results"),
        (
            "sim/a.cpp",
            '"stiction/certificate/plain_kinematics.hpp"',
            "plain_kinematics.hpp is private to certificate",
        ),
        ("plant/a.hpp", '"stiction/certificate/verdict.hpp"', "whose face is certificate.hpp"),
        ("base/a.hpp", '"stiction/colour/b.hpp"', "no folder 'colour'"),
        ("sim/a.hpp", '"b.hpp"', "write it as stiction/.../b.hpp"),
    ],
)
def test_fault_names_file_line_and_folders(
    tmp_path: Path, name: str, include: str, fault: str
) -> None:
    write(tmp_path, name, "<vector>", include)
    result = check(tmp_path)
    assert result.returncode == 1
    assert f"{tmp_path / name}:3: " in result.stderr
    assert fault in result.stderr


def test_unknown_folder_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, "colour/a.hpp", "<vector>")
    result = check(tmp_path)
    assert result.returncode == 1
    assert "no layer has the folder 'colour'" in result.stderr
