"""Proves that Stiction installs and steps beside other packages, each time in an environment of its own.

    ./dev environments            # all environments
    ./dev environments minimal    # only this one

Each environment is a venv in build/environments that pip fills from the package index, with the wheel of
build/dist in place of `stiction`. No version is pinned: the point is what a user gets today. The
versions are printed. A venv is used again until the wheel, the line or Python changes.

If the index cannot be reached, environments that exist are tested, and others are skipped.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "environments"
# A small package without dependencies, to find out whether the index answers.
PROBE = "iniconfig"


@dataclass(frozen=True)
class Environment:
    """An environment of a user: packages, imports and tests.

    line: the arguments of `pip install`.
    imports: modules that must load.
    tests: test files, of which none may be skipped.
    """

    name: str
    line: tuple[str, ...]
    imports: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"


ENVIRONMENTS = (
    Environment("minimal", ("stiction",), ("stiction",), ("python/tests/clients/test_patch.py",)),
    Environment(
        "clients",
        (
            "stiction",
            "mujoco",
            "mjviser",
            "gymnasium[mujoco]",
            "dm_control",
            "gymnasium-robotics",
            "mujoco-studio",
        ),
        (
            "stiction",
            "mujoco.renderer",
            "mjviser",
            "gymnasium.envs.mujoco",
            "dm_control.suite",
            "dm_control.composer",
            "gymnasium_robotics",
            "mujoco.studio",
        ),
        ("python/tests/clients", "python/tests/test_studio_example.py"),
    ),
    # With Ray the venv takes 1 GB, and its versions change too often to be pinned for every developer.
    Environment(
        "ray",
        ("stiction[ray]",),
        ("stiction", "ray", "pyarrow"),
        ("python/tests/sweep/test_sweep_ray.py",),
    ),
)


class FailedError(Exception):
    """An environment that does not do what it must."""


def prove(environment: Environment, wheel: Path) -> bool:
    """Installs and tests an environment. Returns False if it was skipped."""
    print(f"\n-- {environment.name}: pip install {' '.join(environment.line)}", flush=True)
    start = time.monotonic()
    stamp = make_stamp(environment, wheel)
    stamp_file = environment.folder / "stamp"
    if not stamp_file.exists() or stamp_file.read_text() != stamp:
        if not can_reach_index():
            print("skipped: the package index cannot be reached")
            return False
        install(environment, wheel)
        stamp_file.write_text(stamp)
    print((environment.folder / "versions").read_text().strip())
    print(f"installed in {time.monotonic() - start:.0f} s", flush=True)
    load(environment)
    test(environment)
    print(f"{environment.name}: {time.monotonic() - start:.0f} s", flush=True)
    return True


def make_stamp(environment: Environment, wheel: Path) -> str:
    """Describes everything that an environment is made of, except the state of the index."""
    content = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{content}\n{sys.version}\n{' '.join(environment.line)}\n"


def can_reach_index() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--no-deps", "--no-cache-dir", "--retries", "1", "--timeout", "10", "-d", folder]
        command = [sys.executable, "-m", "pip", "download", "-q", *options, PROBE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0


def install(environment: Environment, wheel: Path) -> None:
    """Makes the venv as a user would, checks it, and only then adds what the tests need."""
    shutil.rmtree(environment.folder, ignore_errors=True)
    run([sys.executable, "-m", "venv", environment.folder / "venv"])
    # Also with extras, such as stiction[ray].
    line = [
        word.replace("stiction", str(wheel)) if word.partition("[")[0] == "stiction" else word
        for word in environment.line
    ]
    pip = [environment.python, "-m", "pip"]
    # Python compiles what is imported, a small part of the 600 MB. This halves the time.
    run([*pip, "install", "-q", "--no-compile", *line])
    run([*pip, "check"])
    versions = run([*pip, "list", "--format=freeze"])
    (environment.folder / "versions").write_text(" ".join(versions.split()))
    run([*pip, "install", "-q", "pytest"])
    run([*pip, "check"])


def load(environment: Environment) -> None:
    run([environment.python, "-c", f"import {', '.join(environment.imports)}"])


def test(environment: Environment) -> None:
    options = ["-q", "-p", "no:cacheprovider", "--confcutdir=python/tests/clients"]
    output = run([environment.python, "-m", "pytest", *options, *environment.tests])
    summary = output.strip().splitlines()[-1]
    print(summary)
    if "skipped" in summary:
        raise FailedError(f"tests were skipped, but nothing may be missing:\n{output}")


def run(command: list[str | Path]) -> str:
    """Runs a program without a display; returns its output.

    Raises:
        FailedError: the program failed.
    """
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"MUJOCO_GL": "disable", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        words = " ".join(map(str, command))
        raise FailedError(f"{words} failed with exit code {done.returncode}:\n{done.stdout}")
    return done.stdout


def find_wheel() -> Path:
    wheels = sorted((ROOT / "build" / "dist").glob("stiction-*.whl"))
    if len(wheels) != 1:
        sys.exit(
            f"environments: build/dist must have one wheel, has {len(wheels)}; run ./dev setup"
        )
    return wheels[0]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [environment.name for environment in ENVIRONMENTS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    chosen = parser.parse_args().names or names
    if unknown := set(chosen) - set(names):
        parser.error(f"there is no environment {', '.join(unknown)}; choose of {', '.join(names)}")
    wheel = find_wheel()
    results = {"passed": 0, "failed": 0, "skipped": 0}
    for environment in ENVIRONMENTS:
        if environment.name not in chosen:
            continue
        try:
            results["passed" if prove(environment, wheel) else "skipped"] += 1
        except FailedError as e:
            print(f"FAILED: {environment.name}: {e}")
            results["failed"] += 1
    print("environments:", ", ".join(f"{number} {what}" for what, number in results.items()))
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
