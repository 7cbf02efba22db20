"""`stiction bench lcp`: times LCP solvers with the C++ program lcp_bench."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stiction.evidence.bench.programs import FOLDER, run_program

PROGRAM = FOLDER / "lcp_bench"
OURS, OURS_DENSE = "ppm_ratio, in factors", "ppm_ratio, dense"


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


def run_lcp(program: Path = PROGRAM) -> list[LcpCase]:
    """Runs the program and returns its results.

    Raises:
        Error: the program does not exist or failed.
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
