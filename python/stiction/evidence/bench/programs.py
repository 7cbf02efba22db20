"""Runs benchmarks that are C++ programs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from stiction.errors import Error

FOLDER = Path("build/release/bench")


def run_program(program: Path) -> dict[str, Any]:
    """Runs a program with --json and returns the object that it prints.

    Raises:
        Error: the program does not exist or failed.
    """
    if not program.is_file():
        raise Error(
            "file_not_found",
            str(program),
            "does not exist; build it with cmake --preset release && "
            f"cmake --build --preset release --target {program.name}",
        )
    done = subprocess.run([program, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(
            "invalid_value", str(program), f"failed with exit code {done.returncode}: {done.stderr}"
        )
    out: dict[str, Any] = json.loads(done.stdout)
    return out
