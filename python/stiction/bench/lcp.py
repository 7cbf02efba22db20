"""LCP solvers in turns, all of them native: runs lcp_bench of a build of the C++ benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stiction.bench.programs import FOLDER, run_program

PROGRAM = FOLDER / "lcp_bench"
OURS, OURS_DENSE = "ppm_ratio, in factors", "ppm_ratio, dense"


@dataclass(frozen=True)
class LcpCase:
    """One solver on one variant of the grasp."""

    variant: str
    solver: str
    us: float  # CPU time of a solve, the least of the turns
    median_us: float
    ratio: float  # time of `ppm_ratio, in factors` to this
    ratio_dense: float  # of `ppm_ratio, dense`
    pivots: int
    residual: float  # |min(z, w)| [m/s]
    solved: bool


def run_lcp(program: Path = PROGRAM) -> list[LcpCase]:
    """Runs the program.

    Raises:
        Error: it is not there, or failed.
    """
    rows = run_program(program)["cases"]
    ours = {(row["variant"], row["solver"]): row["us"] for row in rows}
    return [
        LcpCase(
            **row,
            ratio=ours[row["variant"], OURS] / row["us"],
            ratio_dense=ours[row["variant"], OURS_DENSE] / row["us"],
        )
        for row in rows
    ]
