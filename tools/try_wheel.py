"""Installs a wheel in a new environment without a compiler, tries it, and measures it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

NUM_RUNS = 9
TIME_IMPORT = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"


@dataclass
class Trial:
    """The findings in a new environment.

    Attributes:
        python: version of the interpreter.
        import_ms: processor time of `import stiction`, median [ms].
        mujoco_ms: processor time of `import mujoco`, which is a part of that, median [ms].
        num_direct: number of packages that the wheel asks for.
        num_packages: number of packages that were installed with it.
    """

    python: str
    import_ms: float
    mujoco_ms: float
    num_direct: int
    num_packages: int


def try_wheel(wheel: Path, python: Path, smoke: list[Path]) -> Trial:
    """Tries a wheel with an interpreter.

    Args:
        wheel: the wheel.
        python: the interpreter.
        smoke: tools/wheel_smoke.py with its arguments.

    Raises:
        CalledProcessError: the wheel cannot be installed, or fails the trial.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "fresh venv"
        subprocess.run([python, "-m", "venv", venv], check=True)
        fresh = Environment(venv)
        # Without sources of dependencies, and with a path that has no compiler, nothing can be built.
        fresh.run("-m", "pip", "install", "-q", "--only-binary", ":all:", wheel)
        fresh.run("-m", "pip", "check")
        fresh.run(*smoke)
        packages = json.loads(fresh.run("-m", "pip", "list", "--format", "json"))
        names = {package["name"] for package in packages} - {"pip", "setuptools", "stiction"}
        return Trial(
            python=fresh.run("-c", "import platform; print(platform.python_version())").strip(),
            import_ms=fresh.time_import("stiction"),
            mujoco_ms=fresh.time_import("mujoco"),
            num_direct=int(fresh.run("-c", COUNT_REQUIREMENTS)),
            num_packages=len(names),
        )


COUNT_REQUIREMENTS = (
    "from importlib.metadata import requires; "
    "print(sum('extra ==' not in line for line in requires('stiction')))"
)


class Environment:
    """A virtual environment, whose programs are all that its processes find."""

    def __init__(self, folder: Path) -> None:
        self._python = folder / "bin" / "python"
        unwanted = ("CC", "CXX", "PYTHONPATH", "VIRTUAL_ENV")
        self._variables = {k: v for k, v in os.environ.items() if k not in unwanted}
        self._variables |= {"PATH": str(folder / "bin"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run(self, *arguments: str | Path) -> str:
        """Runs Python outside the repository, and returns what it prints."""
        command = [self._python, *arguments]
        result = subprocess.run(
            command, env=self._variables, cwd="/", stdout=subprocess.PIPE, text=True, check=True
        )
        return result.stdout

    def time_import(self, module: str) -> float:
        """Returns the processor time of an import in a new process, median [ms].

        Unlike wall time it hardly depends on the other load of the machine.
        """
        times = [float(self.run("-c", TIME_IMPORT.format(module))) for _ in range(NUM_RUNS)]
        return 1e3 * statistics.median(times)
