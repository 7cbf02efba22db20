"""Makes the source distribution and the wheels of a release for Linux x86-64, audits and tries them.

`./dev wheel` runs this in an environment with the packages of requirements/wheel.txt. Everything ends up
in build/wheels. The wheel for Python 3.11 is for that version only; the one for 3.12 has the stable ABI
and serves all later versions. Each is tried with every interpreter that it fits.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import check_wheel
from interpreters import Interpreter, find_interpreter, find_interpreters
from try_wheel import Trial, try_wheel

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "build/library-sources"
OUT = ROOT / "build/wheels"
GLIBC = "2.28"
PLATFORM = f"manylinux_{GLIBC.replace('.', '_')}_x86_64"
# Scene, contact model and duration of recordings by the development build. Wheels must repeat their bits.
RECORDINGS = [
    ("pinch", "coulomb", "1s"),
    ("pinch", "sap", "1s"),
    ("pinch", "tamsi", "1s"),
    ("pinch", "stewart_trinkle", "1s"),
    ("gripper", "similar", "0.5s"),
    ("spatula", "lagged", "0.5s"),
    ("pancake", "lagged_regularized", "0.5s"),
    ("bubble_gripper", "coulomb", "0.2s"),
    ("quadruped", "rigid_coulomb", "0.5s"),
    ("trotter", "coulomb", "0.5s"),
]


def run(*command: str | Path, **variables: str) -> None:
    print("$", *command, flush=True)
    subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=True)


def make_wheel(source: Path, interpreter: Interpreter, mujoco: Path) -> Path:
    """Builds a wheel in an environment of its own, and gives it the tag of its platform.

    Args:
        source: folder of the unpacked source distribution.
        interpreter: the Python that it is for.
        mujoco: folder of the package `mujoco`.
    """
    raw = OUT / "raw" / interpreter.wheel_tag
    settings = {
        "STICTION_LIBRARY_SOURCES": SOURCES,
        "STICTION_GLIBC": GLIBC,
        "STICTION_WERROR": "ON",
        "MuJoCo_DIR": mujoco,  # headers at one place, so that ccache serves all builds
    }
    options = [f"--config-settings=cmake.define.{name}={value}" for name, value in settings.items()]
    options.append(f"--config-settings=build-dir=build/wheel/release-{interpreter.wheel_tag}")
    # Debian's Python has no pip; that of the tools serves all.
    pip = [sys.executable, "-m", "pip", "--python", interpreter.path]
    run(*pip, "wheel", "-q", "--no-deps", "-w", raw, *options, source, CC="cc", CXX="c++")
    wheel = next(raw.glob("*.whl"))
    run("auditwheel", "show", wheel)
    exclude = ["--exclude", "libstiction_mujoco.so", "--exclude", "libmujoco.so.*"]
    run("auditwheel", "repair", *exclude, "--plat", PLATFORM, "--only-plat", "-w", OUT, wheel)
    return next(OUT.glob(f"*-{interpreter.wheel_tag}-*.whl"))


def audit(wheel: Path) -> None:
    """Checks a wheel with the tools of the Python community and our own."""
    run("twine", "check", "--strict", wheel)
    if "-abi3-" in wheel.name:
        run("abi3audit", "--strict", "--summary", wheel)
    faults = check_wheel.find_faults(wheel, SOURCES)
    if faults:
        sys.exit("\n".join(f"{wheel.name}: {fault}" for fault in faults))


def lint_release() -> None:
    """Checks the release workflow, and the configuration of cibuildwheel."""
    workflow = ".github/workflows/release.yml"
    run("zizmor", "--offline", "--quiet", "--persona=pedantic", workflow)
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow)
    run("validate-pyproject", "pyproject.toml")
    for platform in "linux", "macos", "windows":
        run("cibuildwheel", "--print-build-identifiers", "--platform", platform, ".")


def make_sdist() -> Path:
    run(sys.executable, "-m", "build", "--sdist", "-o", OUT)
    sdist = next(OUT.glob("*.tar.gz"))
    run("twine", "check", "--strict", sdist)
    return sdist


def unpack(sdist: Path) -> Path:
    """Unpacks the source distribution. Wheels are built from it, so it lacks nothing that a build needs."""
    with tarfile.open(sdist) as archive:
        archive.extractall(OUT / "source", filter="data")
    return OUT / "source" / sdist.name.removesuffix(".tar.gz")


def make_recordings(stiction: Path) -> list[Path]:
    """Records runs of the development build."""
    files = []
    for scene, model, duration in RECORDINGS:
        files.append(OUT / "recordings" / f"{scene}-{model}.mcap")
        files[-1].parent.mkdir(exist_ok=True)
        arguments = ["--contact-model", model, "--duration", duration, "--record", files[-1]]
        run(stiction, "run", f"scenes/{scene}.xml", *arguments, "--json")
    return files


def print_table(sdist: Path, rows: list[tuple[Path, Trial]]) -> None:
    line = "{:38} {:>9} {:>8} {:>12} {:>12} {:>13}".format
    print(line("\nwheel", "size [MB]", "Python", "import [ms]", "mujoco [ms]", "dependencies"))
    for wheel, trial in rows:
        tag = re.sub(r"^stiction-[^-]+-|\.whl$", "", wheel.name)
        packages = f"{trial.num_direct} / {trial.num_packages}"
        size = f"{wheel.stat().st_size / 1e6:.2f}"
        times = f"{trial.import_ms:.0f}", f"{trial.mujoco_ms:.0f}"
        print(line(tag, size, trial.python, *times, packages))
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.2f} MB")
    print(
        "Import: processor time, median, with that of MuJoCo included; MuJoCo's own in the next column. "
        "Dependencies: direct / installed with them."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__)
    parser.add_argument(
        "--python",
        action="append",
        type=find_interpreter,
        metavar="PATH",
        help="interpreter to build for and to try; repeat for more; default: all on the path",
    )
    arguments = parser.parse_args()
    interpreters = arguments.python or find_interpreters()
    if not interpreters:
        parser.error("found no Python 3.11 or later; name one: --python PATH")
    shutil.rmtree(OUT, ignore_errors=True)
    lint_release()
    run("tools/fetch_library_sources", SOURCES, PYTHON=sys.executable)
    mujoco = next((ROOT / ".venv/lib").glob("python3*/site-packages/mujoco"))
    sdist = make_sdist()
    source = unpack(sdist)
    wheels: dict[str, Path] = {}
    for interpreter in interpreters:
        if interpreter.wheel_tag not in wheels:
            wheels[interpreter.wheel_tag] = make_wheel(source, interpreter, mujoco)
    for wheel in wheels.values():
        audit(wheel)
    smoke = [ROOT / "tools/wheel_smoke.py", ROOT / "scenes/pinch.xml"]
    smoke += make_recordings(ROOT / ".venv/bin/stiction")
    rows = []
    for interpreter in interpreters:
        wheel = wheels[interpreter.wheel_tag]
        print(f"{wheel.name} with Python {interpreter.path}", flush=True)
        rows.append((wheel, try_wheel(wheel, interpreter.path, smoke)))
    print_table(sdist, rows)


if __name__ == "__main__":
    main()
