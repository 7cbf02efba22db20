"""Runs a sweep: the units that are not finished yet, the journal, the table and the plot."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

from stiction.sweep.config import SweepConfig
from stiction.sweep.journal import Journal, read_journal
from stiction.sweep.plan import Plan, Unit
from stiction.sweep.pool import Finished, run_in_processes
from stiction.sweep.ray_tasks import run_on_ray
from stiction.sweep.table import Row, import_pyarrow, write_table
from stiction.sweep.unit_run import describe_software

PLOT = "sweep.png"

# The states of units whose run may end otherwise next time.
_MAY_END_OTHERWISE = ("crashed", "error")


@dataclass
class SweepResult:
    """The parts of a sweep.

    Attributes:
        rows: inputs, parameters and results of the finished units, in the order of the plan.
        num_units: number of units of the plan.
        num_reused: number of units whose results were in the folder before.
        num_stale: number of results in the folder that belong to another configuration, another
            scene or other software, and are not used.
        table: path of the Parquet file.
        plot: path of the plot; None if no run has anything to draw.
        interrupted: whether Ctrl-C ended the sweep.
    """

    rows: list[Row] = field(default_factory=list)
    num_units: int = 0
    num_reused: int = 0
    num_stale: int = 0
    table: Path | None = None
    plot: Path | None = None
    interrupted: bool = False


def select_waiting(plan: Plan, results: dict[str, Row], *, retry: bool = False) -> list[Unit]:
    """Returns the units without results; `retry` removes the results of those that crashed."""
    if retry:
        for key in [k for k, row in results.items() if row.get("status") in _MAY_END_OTHERWISE]:
            del results[key]
    return [unit for unit in plan.units if unit.key not in results]


def run_sweep(
    config: SweepConfig,
    plan: Plan,
    folder: Path,
    *,
    num_jobs: int | None = None,
    ray_address: str | None = None,
    retry: bool = False,
    advance: Callable[[Finished | None], bool] = lambda finished: False,
) -> SweepResult:
    """Runs the units of a plan that have no results in the folder, and writes table and plot.

    Each finished unit is a line of FOLDER/rows.jsonl at once. A sweep that was killed goes on from
    there when it is run again.

    Args:
        config: the configuration, for the table's metadata.
        plan: its plan.
        folder: the folder, which is made if it does not exist.
        num_jobs: number of runs at once; None means one for each processor.
        ray_address: address of a Ray cluster, or 'auto'; None means processes of this machine.
        retry: whether to repeat units whose process ended.
        advance: called with each finished unit, and several times a second with None; the sweep
            ends early if it returns True.

    Raises:
        Error: a file cannot be written, another sweep runs in the folder, a package is missing, or no
            process can be started.
    """
    import_pyarrow()  # before hours of work
    with Journal(folder) as journal:
        return _run_with(
            journal, config, plan, folder, num_jobs, ray_address, retry=retry, advance=advance
        )


def _run_with(
    journal: Journal,
    config: SweepConfig,
    plan: Plan,
    folder: Path,
    num_jobs: int | None,
    ray_address: str | None,
    *,
    retry: bool,
    advance: Callable[[Finished | None], bool],
) -> SweepResult:
    results = read_journal(folder)
    waiting = select_waiting(plan, results, retry=retry)
    keys = {unit.key for unit in plan.units}
    sweep = SweepResult(
        num_units=len(plan.units),
        num_reused=len(plan.units) - len(waiting),
        num_stale=len(results.keys() - keys),
    )
    stopper = _Stopper(advance)
    with contextlib.closing(_run(plan, waiting, num_jobs, ray_address, stopper)) as runs:
        for finished in runs:
            journal.add(*finished)
            results[finished.unit.key] = finished.results
            stopper.tell(finished)
    sweep.interrupted = stopper.is_stopped
    sweep.rows = [
        {**unit.inputs(), **results[unit.key]} for unit in plan.units if unit.key in results
    ]
    notes = {**describe_software(), "configuration": config.path.read_text("utf-8", "replace")}
    sweep.table = write_table(sweep.rows, plan.parameters, notes, folder)
    sweep.plot = _draw(sweep.rows, plan.parameters, folder / PLOT)
    return sweep


class _Stopper:
    """Tells the caller about progress, and remembers that it wants to stop."""

    def __init__(self, advance: Callable[[Finished | None], bool]) -> None:
        self._advance = advance
        self.is_stopped = False

    def tell(self, finished: Finished | None = None) -> bool:
        self.is_stopped |= self._advance(finished)
        return self.is_stopped


def _run(
    plan: Plan, units: list[Unit], num_jobs: int | None, ray_address: str | None, stopper: _Stopper
) -> Generator[Finished, None, None]:
    if not units:
        return
    if ray_address is not None:
        yield from run_on_ray(units, plan.models, ray_address, num_jobs, stopper.tell)
    else:
        num_jobs = num_jobs or os.cpu_count() or 1
        yield from run_in_processes(units, plan.models, num_jobs, stopper.tell)


def _draw(rows: list[Row], parameters: list[str], path: Path) -> Path | None:
    # Imported here because it loads matplotlib, which processes of the pool do not need.
    from stiction.sweep.plots import draw_summary

    return draw_summary(rows, parameters, path)
