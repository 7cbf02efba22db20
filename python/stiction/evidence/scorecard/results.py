"""The results of runs: measured from raw data, stored as a table of one row per run, and summarized."""

from __future__ import annotations

import csv
import json
import math
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

from stiction.errors import Error
from stiction.evidence.engines.world import Trajectory
from stiction.evidence.scorecard.engine_table import ENGINES
from stiction.evidence.scorecard.scene import Scene, calc_energy_gain, cut
from stiction.evidence.scorecard.scene_table import SCENES

# Begins the reason of a run that we ended, or whose process died.
ENDED = "no result within"


@dataclass(frozen=True)
class Row:
    """The result of a run."""

    scene: str
    engine: str
    time_step: float
    value: float  # the measured quantity in the unit of the scene; NaN if it does not exist
    error: float  # relative error [-]; infinite if the run failed or the value does not exist
    creep: float  # speed of what should rest [m/s], NaN if nothing should
    # Gained energy over that of the scene [-], NaN if the scene does not conserve energy.
    energy_gain: float
    cpu_us: float  # CPU time per step [us]
    # 1 if a second run in another process gave the same bits, 0 if not, empty if there was no
    # second run.
    same_bits: str
    said: str  # what the engine said: kinds of warnings and statuses
    failed: str  # why the run has no result, or empty
    version: str
    settings: str
    date: str
    machine: str = ""  # processor and system of the run

    @property
    def is_said(self) -> bool:
        """True if the engine has said anything about the run. That we ended it is not its word."""
        return bool(self.said or (self.failed and not self.failed.startswith(ENDED)))


HEADER = ",".join(field.name for field in fields(Row))  # the first line of a table of rows


def read_raw(folder: Path) -> list[Row]:
    """Measures all runs of a folder of raw data, in the order of the scenes, engines and steps."""
    rows = []
    for scene in SCENES.values():
        for path in sorted((folder / scene.name).glob("*-0.json")):
            rows.append(_measure(scene, path))
    if not rows:
        raise Error("file_not_found", str(folder), "has no runs; run stiction scorecard first")
    return rows


def _measure(scene: Scene, path: Path) -> Row:
    stored = _read_json(path)
    repeat = path.with_name(path.name.removesuffix("-0.json") + "-1.json")
    same_bits = ""
    if repeat.exists() and "digest" in stored:
        same_bits = str(int(_read_json(repeat).get("digest") == stored["digest"]))
    result: dict[str, Any] = {
        "value": math.nan, "error": math.inf, "creep": math.nan, "energy_gain": math.nan,
        "failed": stored.get("refused") or stored.get("stopped") or "",
    }  # fmt: skip
    if not result["failed"]:
        run = cut(_load_trajectory(path.with_suffix(".npz")), scene.settle)
        found = scene.measure(run)
        result |= {"value": found.value, "error": found.error}
        if found.creep is not None:
            result["creep"] = found.creep
        if scene.energy_scale is not None:
            gain = calc_energy_gain(scene.make_world(), run)
            result["energy_gain"] = gain / scene.energy_scale
    return Row(
        scene=scene.name,
        engine=stored["engine"],
        time_step=stored["time_step"],
        cpu_us=stored.get("cpu_us_per_step", math.nan),
        same_bits=same_bits,
        said=", ".join(sorted(stored.get("messages", {}))),
        version=stored["version"],
        settings=stored["settings"],
        date=stored["date"],
        machine=stored.get("machine", ""),
        **result,
    )


def _read_json(path: Path) -> dict[str, Any]:
    """Reads what was stored about a run."""
    try:
        stored: dict[str, Any] = json.loads(path.read_text())
        if missing := _STORED - set(stored):
            raise ValueError(f"it has no '{min(missing)}'")
    except (OSError, ValueError, TypeError) as e:
        raise Error("syntax", str(path), f"cannot be read: {e}; delete it and run again") from e
    return stored


def _load_trajectory(path: Path) -> Trajectory:
    try:
        return Trajectory.load(path)
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as e:
        raise Error("syntax", str(path), f"cannot be read: {e}; delete it and run again") from e


_STORED = {"engine", "time_step", "version", "settings", "date"}  # about every run


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Writes rows as CSV with four digits, in a stable order."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            plain = asdict(row)
            writer.writerow(
                {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in plain.items()}
            )


def read_rows(path: Path) -> list[Row]:
    """Reads the rows of write_rows()."""
    numbers = {field.name for field in fields(Row) if field.type == "float"}
    try:
        with path.open(newline="") as file:
            table: Sequence[dict[str, str]] = list(csv.DictReader(file))
        rows = [
            Row(**{k: float(v) if k in numbers else v for k, v in line.items()})  # type: ignore[arg-type]
            for line in table
        ]
        if not rows:
            raise ValueError("it has no rows")
        for row in rows:
            if row.scene not in SCENES or row.engine not in ENGINES:
                raise ValueError(f"there is no scene '{row.scene}' with engine '{row.engine}'")
        return rows
    except OSError as e:
        raise Error("file_not_found", str(path), f"cannot be read: {e.strerror or e}") from e
    except (ValueError, TypeError) as e:
        raise Error(
            "syntax", str(path), f"is no table of the scorecard, such as scorecard.csv: {e}"
        ) from e


# ---- Summaries of the rows of an engine, and of an engine on a scene -----------------------------

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
