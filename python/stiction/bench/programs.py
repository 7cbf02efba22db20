"""Benchmarks that are C++ programs: what they print as JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from stiction.errors import Error

FOLDER = Path("build/release/bench")


def run_program(program: Path) -> dict[str, Any]:
    """The object that a program prints with --json.

    Raises:
        Error: it is not there, or failed.
    """
    if not program.is_file():
        raise Error(
            "file_not_found",
            str(program),
            "is not there; it comes with the C++ benchmarks: "
            f"cmake --preset release && cmake --build --preset release --target {program.name}",
        )
    done = subprocess.run([program, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error("invalid_value", str(program), f"ended with {done.returncode}: {done.stderr}")
    out: dict[str, Any] = json.loads(done.stdout)
    return out
