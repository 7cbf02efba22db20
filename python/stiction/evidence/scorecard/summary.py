"""Summaries of the rows of an engine, and of an engine on a scene."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from stiction.evidence.scorecard.results import Row

RIGHT, WRONG = 0.01, 0.1  # errors up to RIGHT count as right, errors above WRONG as wrong
ROUND_OFF = 1e-9  # errors up to this are shown as 0, and have no order
REFERENCE = "mujoco elliptic"  # CPU times are relative to this engine's


@dataclass(frozen=True)
class Cell:
    """An engine on a scene."""

    rows: tuple[Row, ...]  # the runs, the coarsest step first

    @property
    def finest(self) -> Row:
        """The run with the smallest step."""
        return self.rows[-1]

    @property
    def order(self) -> float:
        """Observed order of the error in the time step; NaN if an error is round-off or infinite."""
        first, last = self.rows[0], self.rows[-1]
        if not (ROUND_OFF < first.error < math.inf and ROUND_OFF < last.error < math.inf):
            return math.nan
        if first.time_step == last.time_step:
            return math.nan
        return math.log(first.error / last.error) / math.log(first.time_step / last.time_step)

    @property
    def energy_gain(self) -> float:
        """Largest gain of energy of the runs; NaN if none has one."""
        return max(
            (r.energy_gain for r in self.rows if math.isfinite(r.energy_gain)), default=math.nan
        )

    @property
    def same_bits(self) -> str:
        """'yes', 'no', or '-' if there was no second run."""
        return {"1": "yes", "0": "no"}.get(self.rows[0].same_bits, "-")


@dataclass(frozen=True)
class Total:
    """An engine on all scenes, at the smallest steps unless stated otherwise."""

    scenes: int  # number of scenes that it ran
    # right, near, wrong, failed: how many of them have an error up to 1 %, up to 10 %, above, or no
    # result.
    right: int
    near: int
    wrong: int
    failed: int
    creep: float  # creep of the held cube at the coarsest step [m/s]
    energy_gain: float  # largest gain of energy of all runs, relative to the scene's energy
    # Median of the CPU times per step at the coarsest step, relative to those of REFERENCE.
    cpu_ratio: float
    # repeats, same_bits: number of repeated runs, and how many had the same bits.
    repeats: int
    same_bits: int
    # wrong_runs, said: number of runs at all steps that are wrong or failed, and about how many of
    # them the engine said anything.
    wrong_runs: int
    said: int


def make_cells(rows: Iterable[Row]) -> dict[tuple[str, str], Cell]:
    """Returns the cells by scene and engine."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.scene, row.engine), []).append(row)
    return {
        key: Cell(tuple(sorted(of, key=lambda row: -row.time_step))) for key, of in found.items()
    }


def calc_cpu_ratio(cells: dict[tuple[str, str], Cell], scene: str, engine: str) -> float:
    """Returns the CPU time per step at the coarsest step relative to REFERENCE, or NaN."""
    other = cells.get((scene, REFERENCE))
    own = cells[scene, engine].rows[0].cpu_us
    return own / other.rows[0].cpu_us if other is not None else math.nan


def summarize(cells: dict[tuple[str, str], Cell], engine: str) -> Total:
    """Returns the totals of an engine."""
    own = {scene: cell for (scene, name), cell in cells.items() if name == engine}
    runs: Sequence[Row] = [row for cell in own.values() for row in cell.rows]
    errors = [cell.finest.error for cell in own.values()]
    wrong = [row for row in runs if not row.error <= WRONG]
    ratios = [calc_cpu_ratio(cells, scene, engine) for scene in own]
    ratios = [ratio for ratio in ratios if math.isfinite(ratio)]
    gains = [cell.energy_gain for cell in own.values() if math.isfinite(cell.energy_gain)]
    repeats = [row for row in runs if row.same_bits]
    held = own.get("held_cube")
    return Total(
        scenes=len(own),
        right=sum(e <= RIGHT for e in errors),
        near=sum(RIGHT < e <= WRONG for e in errors),
        wrong=sum(WRONG < e < math.inf for e in errors),
        failed=sum(not e < math.inf for e in errors),
        creep=held.rows[0].creep if held is not None else math.nan,
        energy_gain=max(gains, default=math.nan),
        cpu_ratio=median(ratios) if ratios else math.nan,
        repeats=len(repeats),
        same_bits=sum(row.same_bits == "1" for row in repeats),
        wrong_runs=len(wrong),
        said=sum(row.is_said for row in wrong),
    )
