"""LCP solvers in turns, all of them native: runs lcp_bench of a build of the C++ benchmarks."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from stiction.errors import Error

PROGRAM = Path("build/release/bench/lcp_bench")
OURS = "ppm_ratio, in factors"


@dataclass(frozen=True)
class LcpCase:
    """One solver on one variant of the grasp."""

    variant: str
    solver: str
    us: float  # CPU time of a solve, the least of the turns
    median_us: float
    ratio: float  # time of `ppm_ratio, in factors` to this
    pivots: int
    residual: float  # |min(z, w)| [m/s]
    solved: bool


def run_lcp(program: Path = PROGRAM) -> list[LcpCase]:
    """Runs the program.

    Raises:
        Error: it is not there, or failed.
    """
    if not program.is_file():
        raise Error(
            "file_not_found",
            str(program),
            "is not there; it comes with the C++ benchmarks: "
            "cmake --preset release && cmake --build --preset release --target lcp_bench",
        )
    done = subprocess.run([program, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error("invalid_value", str(program), f"ended with {done.returncode}: {done.stderr}")
    rows = json.loads(done.stdout)["cases"]
    ours = {row["variant"]: row["us"] for row in rows if row["solver"] == OURS}
    return [LcpCase(**row, ratio=ours[row["variant"]] / row["us"]) for row in rows]
