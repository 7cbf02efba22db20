"""The Pythons of this machine, for which wheels are built and with which they are tried."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

FIRST = (3, 11)
FIRST_STABLE = (3, 12)  # the first whose stable ABI nanobind can use


@dataclass(frozen=True)
class Interpreter:
    """A Python for building or trying wheels."""

    path: Path
    version: tuple[int, int]

    @property
    def wheel_tag(self) -> str:
        """Tag of the wheel that this Python builds and installs."""
        if self.version < FIRST_STABLE:
            return "cp{0}{1}-cp{0}{1}".format(*self.version)
        return "cp{}{}-abi3".format(*FIRST_STABLE)


def find_interpreter(path: str) -> Interpreter:
    """Returns an interpreter with its version.

    Raises:
        ArgumentTypeError: it does not run, is too old, or cannot make environments.
    """
    code = "import ensurepip, sys; print(*sys.version_info[:2])"
    try:
        result = subprocess.run([path, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        reason = (getattr(e, "stderr", "") or str(e)).strip().splitlines()[-1]
        raise argparse.ArgumentTypeError(
            f"{path} is no Python with the module ensurepip ({reason}); name another one"
        ) from e
    major, minor = map(int, result.stdout.split())
    if (major, minor) < FIRST:
        raise argparse.ArgumentTypeError(
            f"{path} is Python {major}.{minor}, and Stiction needs 3.11 or later; name another one"
        )
    return Interpreter(Path(path), (major, minor))


def find_interpreters() -> list[Interpreter]:
    """Returns the interpreters on the path and of pyenv, one for each version from 3.11 on."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths = ["/usr/bin/python3", *(shutil.which(f"python3.{minor}") for minor in range(11, 20))]
    paths += sorted(map(str, pyenv.glob("3.*/bin/python")))
    found: dict[tuple[int, int], Interpreter] = {}
    for path in filter(None, paths):
        with contextlib.suppress(argparse.ArgumentTypeError):
            interpreter = find_interpreter(path)
            found.setdefault(interpreter.version, interpreter)
    return [found[version] for version in sorted(found)]
