"""Whole contact steps of the rigid models: runs rigid_bench of a build of the C++ benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stiction.bench.programs import FOLDER, run_program

PROGRAM = FOLDER / "rigid_bench"
OTHER = "stewart_trinkle"


@dataclass(frozen=True)
class RigidCase:
    """One model on one scene."""

    scene: str
    model: str
    contacts: int
    us: float  # CPU time of a contact step, the least of the turns
    median_us: float
    ratio_to_stewart_trinkle: float | None  # where the scene has that
    pivots: int
    solved: bool


@dataclass(frozen=True)
class RigidBench:
    """exponent: of time over contacts of one body. rest_pivots: a step at rest. rest_slip: of the
    blocks against their grippers after 1000 of them [m].
    """

    cases: list[RigidCase]
    exponent: float
    rest_pivots: float
    rest_slip: float


def run_rigid(program: Path = PROGRAM) -> RigidBench:
    """Runs the program.

    Raises:
        Error: it is not there, or failed.
    """
    out = run_program(program)
    rows = out.pop("cases")
    others = {row["scene"]: row["us"] for row in rows if row["model"] == OTHER}
    cases = [
        RigidCase(
            **row,
            ratio_to_stewart_trinkle=row["us"] / others[row["scene"]]
            if row["scene"] in others
            else None,
        )
        for row in rows
    ]
    return RigidBench(cases, **out)
