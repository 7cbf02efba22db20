"""Benchmarks that are C++ programs: `stiction bench lcp` and `stiction bench rigid`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stiction.errors import Error

_FOLDER = Path("build/release/bench")
LCP_PROGRAM, RIGID_PROGRAM = _FOLDER / "lcp_bench", _FOLDER / "rigid_bench"
_OURS, _OURS_DENSE = "ppm_ratio, in factors", "ppm_ratio, dense"
_BASELINE = "stewart_trinkle"


@dataclass(frozen=True)
class LcpCase:
    """The result of one solver on one variant of the grasp."""

    variant: str
    solver: str
    us: float  # CPU time of a solve, minimum of the turns [us]
    median_us: float  # CPU time of a solve, median of the turns [us]
    ratio: float  # time of `ppm_ratio, in factors` divided by this time
    ratio_dense: float  # time of `ppm_ratio, dense` divided by this time
    pivots: int
    residual: float  # |min(z, w)| [m/s]
    solved: bool


@dataclass(frozen=True)
class RigidCase:
    """The result of one model on one scene."""

    scene: str
    model: str
    contacts: int
    us: float  # CPU time of a contact step, minimum of the turns [us]
    median_us: float  # CPU time of a contact step, median of the turns [us]
    ratio_to_stewart_trinkle: float | None  # None if stewart_trinkle does not run on the scene
    pivots: int
    solved: bool


@dataclass(frozen=True)
class RigidBench:
    """The results for the rigid models."""

    cases: list[RigidCase]
    exponent: float  # exponent with which the time grows with the number of contacts of one body
    rest_pivots: float  # pivots per step at rest
    rest_slip: float  # slip of the blocks in their grippers after 1000 steps at rest [m]


def run_lcp(program: Path = LCP_PROGRAM) -> list[LcpCase]:
    """Runs lcp_bench and returns its results."""
    rows = _run_program(program)["cases"]
    us = {(row["variant"], row["solver"]): row["us"] for row in rows}
    return [
        LcpCase(
            **row,
            ratio=us[row["variant"], _OURS] / row["us"],
            ratio_dense=us[row["variant"], _OURS_DENSE] / row["us"],
        )
        for row in rows
    ]


def run_rigid(program: Path = RIGID_PROGRAM) -> RigidBench:
    """Runs rigid_bench and returns its results."""
    out = _run_program(program)
    rows = out.pop("cases")
    us = {row["scene"]: row["us"] for row in rows if row["model"] == _BASELINE}
    cases = []
    for row in rows:
        other = us.get(row["scene"])
        ratio = row["us"] / other if other is not None else None
        cases.append(RigidCase(**row, ratio_to_stewart_trinkle=ratio))
    return RigidBench(cases, **out)


def _run_program(program: Path) -> dict[str, Any]:
    """Runs a program with --json and returns the object that it prints."""
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
