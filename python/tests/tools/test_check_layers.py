"""Tests that tools/check_layers.py finds upward includes and imports, and reports their lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def check(*roots: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_layers.py", *roots],
        capture_output=True,
        text=True,
        check=False,
    )


def write(root: Path, name: str, *includes: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#pragma once\n" + "".join(f"#include {i}\n" for i in includes))


def write_module(root: Path, name: str, *lines: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('"""A module."""\n' + "".join(f"{line}\n" for line in lines))


def test_this_repository_has_no_upward_include_or_import() -> None:
    result = check()
    assert result.stderr == ""
    assert result.returncode == 0


# ---- C++ ------------------------------------------------------------------------------------------


def test_own_and_lower_folders_may_be_included(tmp_path: Path) -> None:
    write(
        tmp_path,
        "plant/model/a.hpp",
        "<vector>",
        "<mujoco/mujoco.h>",
        '"stiction/plant/mujoco/b.hpp"',
        '"stiction/math/b.hpp"',
    )
    assert check(tmp_path).returncode == 0


def test_the_certificates_public_headers_may_be_included(tmp_path: Path) -> None:
    write(tmp_path, "sim/a.hpp", '"stiction/certificate/certifier.hpp"')
    write(tmp_path, "certificate/a.cpp", '"stiction/certificate/plain_kinematics.hpp"')
    result = check(tmp_path)
    assert result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("name", "include", "fault"),
    [
        ("math/a.hpp", '"stiction/contact/b.hpp"', "math must not include contact"),
        ("plant/a.cpp", "<stiction/sim/b.hpp>", "plant must not include sim"),
        ("contact/a.cpp", "<mujoco/mujoco.h>", "must not use MuJoCo"),
        ("certificate/a.cpp", '"stiction/laws/b.hpp"', "certificate must not include laws"),
        ("formulations/rigid/a.cpp", '"stiction/certificate/b.hpp"', "which verifies its results"),
        (
            "sim/a.cpp",
            '"stiction/certificate/plain_kinematics.hpp"',
            "plain_kinematics.hpp is private to certificate",
        ),
        ("plant/a.hpp", '"stiction/certificate/round_off.hpp"', "include certificate.hpp or"),
        ("laws/a.hpp", '"stiction/certificate/certifier.hpp"', "laws must not include certificate"),
        ("base/a.hpp", '"stiction/color/b.hpp"', "no folder 'color'"),
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
    write(tmp_path, "color/a.hpp", "<vector>")
    result = check(tmp_path)
    assert result.returncode == 1
    assert "no layer has the folder 'color'" in result.stderr


# ---- Python ---------------------------------------------------------------------------------------


def test_own_and_lower_parts_may_be_imported(tmp_path: Path) -> None:
    write_module(tmp_path, "__init__.py", "from stiction.scene import Scene")
    write_module(tmp_path, "errors.py")
    write_module(tmp_path, "scene.py", "import numpy as np", "from stiction import _core, errors")
    write_module(tmp_path, "evidence/bench/__init__.py")
    write_module(
        tmp_path, "evidence/bench/a.py", "import stiction", "from stiction.evidence.bench import b"
    )
    write_module(tmp_path, "evidence/bench/b.py", "import stiction.errors")
    result = check(tmp_path)
    assert result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("scene.py", "from stiction.evidence.studies.a import A", "scene must not import evidence"),
        ("scene.py", "from stiction import evidence, lcp", "scene must not import evidence"),
        ("analysis/a.py", "import stiction.sweep.a as a", "which stands beside it"),
        ("recording/a.py", "import stiction", "recording must not import __init__"),
        ("recording/a.py", "from stiction import Scene", "recording must not import __init__"),
        ("commands/a.py", "from stiction.cli import app", "commands must not import cli"),
    ],
)
@pytest.mark.parametrize("before", ["pass", "def f() -> None:", "if TYPE_CHECKING:"])
def test_an_upward_import_is_found_with_its_line(
    tmp_path: Path, name: str, line: str, fault: str, before: str
) -> None:
    folders = ("evidence", "evidence/studies", "sweep")
    for module in ("__init__.py", "lcp.py", "cli.py", *(f"{f}/__init__.py" for f in folders)):
        write_module(tmp_path, module)
    for module in ("evidence/studies/a.py", "sweep/a.py"):
        write_module(tmp_path, module)
    write_module(tmp_path, name, before, line if before == "pass" else f"    {line}")
    result = check(tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(f"{tmp_path / name}:3: ")
    assert fault in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("form", ["{}", "def f() -> None:\n    {}"])
def test_a_circle_of_modules_is_found(tmp_path: Path, form: str) -> None:
    for module, target in (("a", "b"), ("b", "c"), ("c", "a")):
        line = form.format(f"from stiction.evidence.bench.{target} import X")
        write_module(tmp_path, f"evidence/bench/{module}.py", line)
    write_module(tmp_path, "evidence/bench/d.py", "from stiction.evidence.bench.a import X")
    result = check(tmp_path)
    assert result.returncode == 1
    (fault,) = result.stderr.splitlines()
    place, circle = fault.split(" imports in a circle: ")
    first, second, third, last = circle.split(" -> ")
    assert first[-1] + second[-1] + third[-1] in ("abc", "bca", "cab")
    assert last == first
    module = first.rpartition(".")[2]
    assert place == f"{tmp_path / 'evidence/bench' / module}.py:{2 + form.count(chr(10))}:"


def test_an_unknown_part_is_a_fault(tmp_path: Path) -> None:
    write_module(tmp_path, "color.py")
    result = check(tmp_path)
    assert result.returncode == 1
    assert "no layer has 'color'" in result.stderr
