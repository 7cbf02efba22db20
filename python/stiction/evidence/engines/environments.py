"""The environments in which engines run, and the processes that run tasks in them."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stiction.errors import Error
from stiction.evidence.engines import worker
from stiction.inputs.names import suggest_name

# Peers need other versions of packages than Stiction, so each has a virtual environment of its own.
FOLDER = Path("build/scorecard")


@dataclass(frozen=True)
class Environment:
    """An environment."""

    name: str  # name of its folder
    # The packages that pip installs; empty for the environment of Stiction itself.
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
        Environment("genesis", ("genesis-world==1.4.5", "torch==2.15.0")),
        Environment("motrix", ("motrixsim==0.10.1",)),
        Environment("pinocchio", ("pin==4.1.0",)),
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
    # Room for the contacts of every scene; what has no room is dropped.
    "njmax": 2000,
    "nconmax": 500,
}
# Anchors are the default of this solver. Its warning on dropped rows asks for the larger capacity.
STEEL: dict[str, Any] = {"iterations": 100, "articulation_constraint_max": 4096}


# ---- A process that runs tasks in an environment -------------------------------------------------


class WorkerProcess:
    """A worker. Its answers come through a thread, so that waiting for them can end."""

    def __init__(self, environment: Environment, folder: Path) -> None:
        variables = dict(os.environ) | {"OMP_NUM_THREADS": "1"}
        if environment.packages:
            variables["STICTION_BARE"] = "1"
            variables.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(environment.find_python(folder)), str(Path(worker.__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=variables,
        )
        self._answers: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, task: dict[str, Any], max_seconds: float) -> dict[str, Any] | None:
        """Returns the answer to a task, or None if there is none in time."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(task) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._answers.get(timeout=max_seconds))
        except (OSError, queue.Empty, ValueError):
            return None
        return answer

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not yet sent cannot be sent any more
                    pipe.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")  # the process has ended
