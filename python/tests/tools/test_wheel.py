"""Tests what makes a wheel run elsewhere: licenses, old versions of glibc's symbols, and their checks."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import re
import shutil
import subprocess
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Uses symbols whose newest versions glibc 2.28 does not have, and the ones of old_glibc.c.
PROGRAM = """
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

__attribute__((visibility("default"))) int try_symbols(const char* path, double* values) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  struct stat by_path, by_file;
  struct timespec end;
  double start = now();
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += 30000000;
  if (end.tv_nsec >= 1000000000) { end.tv_nsec -= 1000000000; ++end.tv_sec; }
  if (pthread_mutex_trylock(&mutex)) return 1;
  int result = pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &end);
  if (result != ETIMEDOUT || now() - start < 0.029) return 2;
  FILE* file = fopen(path, "r");
  if (!file || stat(path, &by_path) || fstat64(fileno(file), (struct stat64*)&by_file)) return 3;
  if (by_path.st_size == 0 || by_path.st_size != by_file.st_size) return 4;
  fclose(file);
  values[0] = exp(values[0]);
  values[1] = pow(values[1], 0.3);
  values[2] = hypot(values[2], 3);
  return 0;
}
"""
needs_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or platform.machine() != "x86_64",
    reason="is about glibc on x86-64",
)


def import_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_wheel = import_tool("check_wheel")
cut_glibc = import_tool("cut_glibc")


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_each_library_in_a_wheel_has_its_license() -> None:
    files = {file.name for file in (ROOT / "licenses").iterdir()}
    assert files == set(check_wheel.LICENSES)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license-files"] == ["LICENSE", "licenses/*.txt"]
    # All code that the build compiles in has a license: folders of sources, nanobind and robin_map.
    text = (ROOT / "cmake" / "StictionLibrarySources.cmake").read_text()
    folders = set(re.findall(r"stiction_find_sources\(([\w-]+)", text))
    assert {
        source.partition("/")[0] for source in check_wheel.LICENSES.values() if source
    } == folders


def test_licenses_are_those_of_the_packages() -> None:
    installed = distribution("nanobind").locate_file("nanobind-3.1.0.dist-info/licenses/LICENSE")
    assert (ROOT / "licenses/nanobind.txt").read_text() == Path(str(installed)).read_text()
    (daqp,) = (ROOT / ".venv" / "daqp").glob("daqp-*/LICENSE")
    assert (ROOT / "licenses/daqp.txt").read_text() == daqp.read_text()


def write_wheel(folder: Path, name: str, content: bytes, licenses: list[str]) -> Path:
    """Writes a wheel with one module and some licenses."""
    info = "stiction-1.dist-info"
    path = folder / "stiction-1-cp312-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"stiction/{name}", content)
        lines = [f"License-File: {file}\n" for file in licenses]
        archive.writestr(f"{info}/METADATA", "Name: stiction\n" + "".join(lines))
        for file in licenses:
            archive.write(ROOT / file, f"{info}/licenses/{file}")
    return path


@needs_glibc
def test_the_check_of_a_wheel_names_libraries_symbols_and_licenses(tmp_path: Path) -> None:
    source = tmp_path / "module.c"
    source.write_text(
        "double exp(double); int other(void); int f(int i) { return exp(i) + other(); }"
    )
    module = tmp_path / "_core.so"
    library = tmp_path / "libyaml-cpp.so.0.7"
    run("cc", "-shared", "-o", library, "-Wl,-soname,libyaml-cpp.so.0.7", "-xc", "/dev/null")
    run(
        "cc",
        "-shared",
        "-fPIC",
        "-o",
        module,
        source,
        "-lm",
        "-Wl,--no-as-needed",
        library,
        "-Wl,-rpath,/somewhere",
    )
    every = ["LICENSE", *(f"licenses/{name}" for name in check_wheel.LICENSES)]
    sources = tmp_path / "sources"
    for name, place in check_wheel.LICENSES.items():
        if place:
            (sources / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "licenses" / name, sources / place)
    wheel = write_wheel(tmp_path, "_core.so", module.read_bytes(), every[:-1])
    faults = check_wheel.find_faults(wheel, sources)
    assert faults == [
        f"lacks the license {every[-1]}",
        "_core.so needs libyaml-cpp.so.0.7",
        "_core.so has a run path",
        "_core.so uses other, which no old glibc has; define it in src/old_glibc.c",
    ]
    (sources / "daqp/LICENSE").write_text("Another one.\n")
    (fault, *_) = check_wheel.find_faults(wheel, sources)
    assert "licenses/daqp.txt that is not daqp/LICENSE" in fault
    run("cc", "-shared", "-fPIC", "-o", module, "-xc", "/dev/null")
    assert check_wheel.find_link_faults(module) == []


def read_versions(path: Path) -> set[tuple[int, ...]]:
    """Returns the versions of glibc's symbols that a program asks for."""
    text = run("readelf", "-W", "--dyn-syms", path)
    return {cut_glibc.parse_version(v) for v in re.findall(r"@GLIBC_([\d.]+)", text)}


@needs_glibc
def test_a_library_that_is_linked_for_an_old_glibc_asks_for_old_symbols(tmp_path: Path) -> None:
    limit = (2, 28)
    cut_glibc.write_libraries(limit, tmp_path / "glibc", "cc")
    program = tmp_path / "program.c"
    program.write_text(PROGRAM)
    options = [
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-builtin",
        "-Wall",
        "-Werror",
        "-Wl,-z,defs",
        "-o",
    ]
    new, old = tmp_path / "new.so", tmp_path / "old.so"
    run("cc", *options, new, program, "-lm")
    run(
        "cc",
        *options,
        old,
        program,
        ROOT / "python/src/old_glibc.c",
        "-L",
        tmp_path / "glibc",
        "-lm",
    )
    assert max(read_versions(new)) > limit, "this machine's glibc is old itself"
    assert max(read_versions(old)) <= limit
    results = []
    for library in new, old:
        values = (ctypes.c_double * 3)(1.1, 2.3, 4.7)
        assert ctypes.CDLL(str(library)).try_symbols(str(program).encode(), values) == 0
        results.append(list(values))
    assert results[0] == results[1] != [1.1, 2.3, 4.7]


@needs_glibc
def test_a_symbol_that_an_old_glibc_does_not_have_is_not_linked(tmp_path: Path) -> None:
    cut_glibc.write_libraries((2, 28), tmp_path, "cc")
    source = tmp_path / "program.c"
    source.write_text("int stat(void); int exit(int); int f(void) { exit(1); return stat(); }")
    result = subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-z,defs", "-o", tmp_path / "a.so", source, "-L", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "undefined reference to `stat'" in result.stderr
    assert "exit'" not in result.stderr


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [({(2, 2, 5)}, (2, 2, 5)), ({(2, 2, 5), (2, 29)}, (2, 2, 5)), ({(2, 28), (2, 3)}, (2, 28))],
)
def test_the_newest_old_version_of_a_symbol_is_chosen(
    versions: set[tuple[int, ...]], chosen: tuple[int, ...]
) -> None:
    symbols = {"exp": versions, "arc4random": {(2, 36)}}
    assert cut_glibc.choose_versions(symbols, (2, 28)) == {"exp": chosen}
