"""Tests the import of stiction with MuJoCo: other versions, other libraries, other processors."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import mujoco
import pytest

from stiction import _core
from stiction.binding import _load

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = next(Path(mujoco.__file__).resolve().parent.glob("libmujoco.so.*"))
# Replaces the package mujoco, when it is imported, by the installed one after a change of it.
CHANGED_MUJOCO = """
import sys
sys.path.pop(0) if sys.path[0] else sys.path.pop(1)
del sys.modules["mujoco"]
import mujoco
mujoco.__version__ = "3.2.0"
"""
ASK_PROCESSOR = """
import importlib.util as u, sys
spec = u.spec_from_file_location("_load", sys.argv[1])
module = u.module_from_spec(spec)
spec.loader.exec_module(module)
print(module._find_missing_instructions())
"""
STEP = """
import stiction, mujoco
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .09'><freejoint/>"
    "<geom size='.1'/></body></worldbody></mujoco>")
assert stiction.Simulator(model).step(mujoco.MjData(model), 9).status == "ok"
"""


def run_python(code: str, path: Path | None = None) -> str:
    """Runs code in a new process, with packages in `path` before all others.

    Returns its last line of errors, or ''.
    """
    variables = {**os.environ} if path is None else {**os.environ, "PYTHONPATH": str(path)}
    result = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )
    assert (result.returncode == 0) == (result.stderr == ""), result.stderr
    return result.stderr.splitlines()[-1] if result.stderr else ""


def write_mujoco(path: Path, text: str) -> None:
    (path / "mujoco").mkdir()
    (path / "mujoco" / "__init__.py").write_text(text)


def copy_library(folder: Path) -> Path:
    """Copies libmujoco under another name, as if it were another version."""
    name = LIBRARY.name.encode()
    other = name[:-5] + b"9.9.9"
    content = LIBRARY.read_bytes()
    assert content.count(name) > 0 and len(other) == len(name)
    path = folder / other.decode()
    path.write_bytes(content.replace(name, other))
    return path


@pytest.mark.parametrize("first", ["stiction", "mujoco"])
def test_the_order_of_imports_does_not_matter(first: str) -> None:
    assert run_python(f"import {first}\n{STEP}") == ""


@pytest.mark.slow
def test_a_forked_process_can_import_and_step() -> None:
    fork = "import os\nif pid := os.fork(): os._exit(os.waitpid(pid, 0)[1] != 0)\n"
    assert run_python(fork + STEP) == ""
    assert run_python("import stiction\n" + fork + STEP) == ""


def test_another_version_is_refused_with_the_range_the_folder_and_the_remedy(
    tmp_path: Path,
) -> None:
    write_mujoco(tmp_path, CHANGED_MUJOCO)
    message = run_python("import stiction", tmp_path)
    assert message.startswith(
        f"ImportError: stiction works with MuJoCo{_load.MUJOCO_RANGE}, but 3.2.0 is installed in "
        f"{Path(mujoco.__file__).parent}; run pip uninstall -y "
    )
    assert f'{_load.MUJOCO_RANGE}". To keep that version instead, run pip uninstall' in message


@pytest.mark.parametrize(
    ("version", "is_supported"),
    [("3.17.0", False), ("4.0.0", True), ("4.0.1", True), ("4.0.2.dev1", True), ("4.1.0", False)],
)
def test_the_range_has_the_patches_of_one_minor_version(version: str, is_supported: bool) -> None:
    module = SimpleNamespace(__version__=version, __file__="/somewhere/mujoco/__init__.py")
    if is_supported:
        _load.check_version(module)
    else:
        with pytest.raises(ImportError, match=version):
            _load.check_version(module)


def test_all_files_have_the_same_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "mujoco-core" + _load.MUJOCO_RANGE in project["dependencies"]
    first, end = (".".join(map(str, numbers)) for numbers in _load.MUJOCO_VERSIONS)
    assert f">={first},<{end}" == _load.MUJOCO_RANGE
    assert f"find_package(MuJoCo {first}...<{end} " in (ROOT / "CMakeLists.txt").read_text()
    assert f"mujoco-core{_load.MUJOCO_RANGE}" in (ROOT / "cmake/FindMuJoCo.cmake").read_text()


def test_the_headers_of_this_build_are_in_the_range() -> None:
    number = _core.MUJOCO_VERSION
    first, end = _load.MUJOCO_VERSIONS
    assert first <= (number // 1_000_000, number // 1_000 % 1_000, number % 1_000) < end


def test_a_missing_mujoco_is_explained() -> None:
    message = run_python("import sys\nsys.modules['mujoco'] = None\nimport stiction")
    assert message == (
        "ImportError: stiction needs MuJoCo, which is not installed: "
        f'pip install "mujoco-core{_load.MUJOCO_RANGE}"'
    )


@pytest.mark.parametrize(
    "error",
    [
        "ImportError('Version mismatch')",
        "ModuleNotFoundError('no _structs', name='mujoco._structs')",
        "ImportError('libmujoco.so.4.0.0: cannot open shared object file')",
        "OSError('libmujoco.so.3.17.0: cannot open shared object file')",
    ],
)
def test_packages_that_have_overwritten_each_other_are_explained(
    error: str, tmp_path: Path
) -> None:
    write_mujoco(tmp_path, f"raise {error}")
    message = run_python("import stiction", tmp_path)
    assert message.startswith("ImportError: MuJoCo cannot be imported (")
    assert "have overwritten each other; run pip uninstall -y " in message


@pytest.mark.parametrize(
    ("installed", "remedy"),
    [
        ([], 'run pip install "mujoco-core'),
        (["mujoco-core"], 'run pip uninstall -y mujoco-core && pip install "mujoco-core'),
        (["mujoco"], 'run pip uninstall -y mujoco && pip install "mujoco>'),
        (["mujoco", "mujoco-core"], 'y mujoco mujoco-core && pip install "mujoco>'),
    ],
)
def test_the_remedy_removes_both_packages_and_keeps_the_one_that_was_there(
    installed: list[str], remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_load, "_is_installed", lambda name: name in installed)
    assert remedy in _load._make_remedy()


def test_a_package_whose_files_were_removed_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uninstalling the package `mujoco` removes files of mujoco-core, and may leave the folder."""
    folder = SimpleNamespace(__file__=None, __path__=["/somewhere/mujoco"])
    monkeypatch.setitem(sys.modules, "mujoco", folder)
    with pytest.raises(ImportError, match="/somewhere/mujoco lacks files.*; run pip uninstall"):
        _load.import_mujoco()


def test_other_missing_modules_keep_their_names(tmp_path: Path) -> None:
    write_mujoco(tmp_path, "import no_such_module")
    message = run_python("import stiction", tmp_path)
    assert message == "ModuleNotFoundError: No module named 'no_such_module'"


@pytest.mark.parametrize("file", ["mujoco.py", "mujoco/readme.txt"])
def test_a_file_or_folder_with_the_name_of_the_package_is_explained(
    file: str, tmp_path: Path
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    # Without the folder of installed packages, because a folder is found only after all packages.
    code = (
        "import sys\nfrom importlib.util import module_from_spec, spec_from_file_location\n"
        f"sys.path[:] = [p for p in sys.path if 'packages' not in p] + [{str(tmp_path)!r}]\n"
        f"spec = spec_from_file_location('_load', {_load.__file__!r})\n"
        "module = module_from_spec(spec)\nspec.loader.exec_module(module)\nmodule.load_core()"
    )
    message = run_python(code)
    assert re.search(f"'mujoco' in {tmp_path}/mujoco.* is not the package of MuJoCo", message)


def test_a_second_libmujoco_with_visible_symbols_is_refused(tmp_path: Path) -> None:
    other = copy_library(tmp_path)
    load = (
        f"import mujoco, ctypes\nctypes.CDLL({str(other)!r}, ctypes.RTLD_GLOBAL)\nimport stiction"
    )
    assert f"has two MuJoCo libraries: {LIBRARY}, of the package mujoco, and {other}" in run_python(
        load
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["RTLD_LOCAL", "RTLD_GLOBAL"])
def test_a_libmujoco_that_is_loaded_later_keeps_its_own_symbols(mode: str, tmp_path: Path) -> None:
    """MuJoCo ends the process if it finds the symbols of another one."""
    other = copy_library(tmp_path)
    load = f"import ctypes\nother = ctypes.CDLL({str(other)!r}, ctypes.{mode})\n"
    assert run_python(f"import stiction\n{load}{STEP}") == ""


def test_each_patch_of_the_minor_version_has_a_link() -> None:
    names = {file.name for file in Path(_core.__file__).parent.glob("libmujoco_*.so")}
    assert names == {f"libmujoco_4.0.{patch}.so" for patch in range(10)}


def test_a_version_without_a_link_is_refused(tmp_path: Path) -> None:
    module = SimpleNamespace(__version__="4.0.10", __file__="/somewhere/mujoco/__init__.py")
    with pytest.raises(
        ImportError, match=r"does not know MuJoCo 4.0.10.*mujoco-core>=4.0.0,<4.0.10"
    ):
        _load.load_link(module)


def test_a_library_of_another_version_than_its_package_is_explained() -> None:
    code = "import mujoco\nmujoco.__version__ = '4.0.9'\nimport stiction"
    assert "libmujoco.so.4.0.9: cannot open" in run_python(code)


def test_a_package_without_its_library_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_load, "_find_library", lambda _: None)
    with pytest.raises(ImportError, match="found no libmujoco in .*pip uninstall"):
        _load.check_library(mujoco)


def test_the_module_names_no_libmujoco() -> None:
    content = Path(_core.__file__).read_bytes()
    assert re.findall(rb"libmujoco\.so[.0-9]*", content) == []


def test_32_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("struct.calcsize", lambda _: 4)
    with pytest.raises(ImportError, match="need a 64-bit Python"):
        _load.check_processor()


def test_a_processor_without_avx2_is_refused_with_the_command_that_builds_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_load, "_find_missing_instructions", lambda: "AVX2")
    with pytest.raises(ImportError, match=r"x86-64-v3, but this one lacks AVX2; .*ARCH=x86-64 \."):
        _load.check_processor()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="asks an x86-64 processor")
def test_the_processor_is_asked_itself() -> None:
    """qemu-user runs this library on an older processor, whatever /proc/cpuinfo says."""
    qemu = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if qemu is None:
        pytest.skip("needs qemu-x86_64 (apt-get install qemu-user)")
    cases = [
        ("Nehalem", "AVX2"),
        ("Haswell,-fma", "FMA"),
        ("Haswell,-abm", "LZCNT"),
        ("Haswell", ""),
    ]
    for cpu, missing in cases:
        command = [qemu, "-cpu", cpu, sys.executable, "-c", ASK_PROCESSOR, _load.__file__]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert result.stdout.strip() == missing
