"""`stiction bench rigid`: times contact steps of the rigid models with the C++ program rigid_bench."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stiction.evidence.bench.programs import FOLDER, run_program

PROGRAM = FOLDER / "rigid_bench"
_BASELINE = "stewart_trinkle"


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
    """The results of the benchmark.

    cases: the timed cases.
    exponent: exponent with which the time grows with the number of contacts of one body.
    rest_pivots: pivots per step at rest.
    rest_slip: slip of the blocks in their grippers after 1000 steps at rest [m].
    """

    cases: list[RigidCase]
    exponent: float
    rest_pivots: float
    rest_slip: float


def run_rigid(program: Path = PROGRAM) -> RigidBench:
    """Runs the program and returns its results.

    Raises:
        Error: the program does not exist or failed.
    """
    out = run_program(program)
    rows = out.pop("cases")
    others = {row["scene"]: row["us"] for row in rows if row["model"] == _BASELINE}
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
