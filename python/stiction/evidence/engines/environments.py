"""The environments in which engines run, because peers need other versions of packages."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stiction.errors import Error
from stiction.inputs.names import suggest_name

FOLDER = Path("build/scorecard")


@dataclass(frozen=True)
class Environment:
    """An environment."""

    name: str  # name of its folder
    # What pip installs; empty for the environment of Stiction itself.
    packages: tuple[str, ...] = ()

    def find_python(self, folder: Path) -> Path:
        """Returns the Python of the environment."""
        if not self.packages:
            return Path(sys.executable)
        python = folder / self.name / "bin" / "python"
        if not python.is_file():
            raise Error(
                "unsupported",
                str(python),
                f"does not exist, because the engine is not installed; run stiction scorecard --install "
                f"{self.name}, or python -m venv {folder / self.name} and there pip install "
                f"{' '.join(self.packages)}",
            )
        return python

    def is_installed(self, folder: Path) -> bool:
        """True if the environment exists."""
        return not self.packages or (folder / self.name / "bin" / "python").is_file()

    def install(self, folder: Path) -> None:
        """Makes the environment anew from the package index."""
        if not self.packages:
            return
        venv = folder / self.name
        commands = (
            [sys.executable, "-m", "venv", "--clear", str(venv)],
            [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", *self.packages],
        )
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Error(
                    "invalid_value", " ".join(command), f"failed: {done.stderr.strip()[-500:]}"
                )


ENVIRONMENTS = {
    each.name: each
    for each in (
        Environment("stiction"),
        Environment("drake", ("drake==1.51.1",)),
        Environment("newton", ("newton[sim]==1.8.0",)),
        Environment("bullet", ("pybullet==3.2.7", "numpy")),
    )
}
# The environments that can be installed.
PEERS = tuple(name for name, each in ENVIRONMENTS.items() if each.packages)


def install_environments(names: list[str], folder: Path) -> None:
    """Installs environments by name."""
    for name in names:
        if name not in PEERS:
            message = f"there is no environment '{name}' {suggest_name(name, PEERS)}"
            raise Error("unknown_name", "--install", message)
    for name in names:
        ENVIRONMENTS[name].install(folder)


# ---- The settings of Newton's solvers that their documentation recommends ------------------------

WARP: dict[str, Any] = {
    "cone": "elliptic",
    "impratio": 10.0,
    "iterations": 100,
    "ls_iterations": 50,
    "tolerance": 1e-8,
}
# Anchors are the default of this solver. Its warning on dropped rows asks for the larger capacity.
STEEL: dict[str, Any] = {"iterations": 100, "articulation_constraint_max": 512}
