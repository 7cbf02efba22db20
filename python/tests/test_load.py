"""Tests the import of stiction with a missing or wrong MuJoCo, or with an old processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stiction import _load


def import_stiction(path: Path) -> str:
    """Imports stiction with packages in `path` before all others. Returns its message, or ''."""
    result = subprocess.run(
        [sys.executable, "-c", "import stiction"],
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode == 0) == (result.stderr == "")
    return result.stderr


def write_mujoco(path: Path, text: str) -> None:
    (path / "mujoco").mkdir()
    (path / "mujoco" / "__init__.py").write_text(text)


def test_the_pinned_version_loads(tmp_path: Path) -> None:
    assert import_stiction(tmp_path) == ""


def test_another_version_is_refused_with_both_versions_the_folder_and_the_remedy(
    tmp_path: Path,
) -> None:
    write_mujoco(tmp_path, "__version__ = '3.2.0'")
    message = import_stiction(tmp_path).splitlines()[-1]
    assert message.startswith(f"ImportError: stiction was built for MuJoCo {_load.MUJOCO_VERSION}")
    assert f"3.2.0 is installed in {tmp_path / 'mujoco'}" in message
    assert f"mujoco-core=={_load.MUJOCO_VERSION}" in message


def test_a_missing_mujoco_is_explained(tmp_path: Path) -> None:
    write_mujoco(tmp_path, "raise ModuleNotFoundError('No module named mujoco')")
    message = import_stiction(tmp_path).splitlines()[-1]
    assert message == (
        f"ImportError: stiction needs MuJoCo {_load.MUJOCO_VERSION}: "
        f"pip install mujoco-core=={_load.MUJOCO_VERSION}"
    )


@pytest.mark.parametrize("flags", ["fpu sse2 avx", "fpu sse2 avx avx2 bmi2"])
def test_a_processor_without_avx2_and_fma_is_refused(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nflags : {flags}\n")
    monkeypatch.setattr(_load, "Path", lambda _: cpuinfo)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(ImportError, match="processor with .*fma.*STICTION_ARCH=x86-64"):
        _load.check_processor()


def test_the_module_was_built_with_the_required_version() -> None:
    from stiction import _core

    major, minor, patch = map(int, _load.MUJOCO_VERSION.split("."))
    assert _core.MUJOCO_VERSION == 1_000_000 * major + 1_000 * minor + patch
