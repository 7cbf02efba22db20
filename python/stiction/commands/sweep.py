"""`stiction sweep`: runs all combinations of scenes, models, time steps and parameters."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from stiction.binding.interrupts import DeferredInterrupt
from stiction.commands.app import ExitCode, app
from stiction.commands.options import Json
from stiction.commands.output import Messages, make_console, print_json, print_text
from stiction.sweep.config import read_config
from stiction.sweep.journal import read_journal
from stiction.sweep.plan import Plan, make_plan
from stiction.sweep.pool import Finished
from stiction.sweep.sweep import SweepResult, run_sweep, select_waiting
from stiction.sweep.table import Row
from stiction.tables.text_table import make_text_table

_MAX_LISTED = 10  # failures that are described; the table has all


_Out = Annotated[
    Path | None,
    typer.Option(
        file_okay=False,
        metavar="DIR",
        help="Folder of the results; default: out/sweep_CONFIG. A sweep that was stopped or "
        "killed goes on from what is there.",
    ),
]
_RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of the Ray cluster, HOST:PORT; implies --ray. The default is the cluster of "
        "this machine, or that of RAY_ADDRESS.",
    ),
]


@app.command("sweep")
def sweep_command(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file of the sweep.")],
    out: _Out = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Runs at once; default: one for each processor."),
    ] = None,
    ray: Annotated[
        bool,
        typer.Option("--ray", help="Run on a Ray cluster that is up, in place of processes here."),
    ] = False,
    ray_address: _RayAddress = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the units, and run nothing.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Repeat the units whose process crashed.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Run scenes under all combinations of contact models, time steps and parameters.

    Each combination is a row of DIR/sweep.parquet. DIR/sweep.png shows drift and error bounds
    against cost. docs/sweep.md describes the configuration and the columns.

    Exit codes: 0 success, 1 a run failed, 2 wrong usage, 3 a step failed its certificate, 130 Ctrl-C;
    then the files have the rows so far, and the same command goes on.
    """
    messages = Messages()
    folder = out or Path("out") / f"sweep_{config.stem}"
    with messages.show_warnings(), messages.show_status("sweep") as tell:
        tell("finding the scenes")
        configuration = read_config(config)
        tell(f"listing the combinations of {len(configuration.scenes)} scenes")
        plan = make_plan(configuration)
    if dry_run:
        _list_units(plan, folder, retry, as_json)
        return ExitCode.OK
    num_waiting = len(select_waiting(plan, read_journal(folder), retry=retry))
    with (
        messages.show_warnings(),
        DeferredInterrupt() as interrupt,
        _show_progress(messages, plan, num_waiting) as show,
        # Ray prints messages, for example on dead processes. Standard output is for the results.
        contextlib.redirect_stdout(sys.stderr),
    ):

        def advance(finished: Finished | None) -> bool:
            show(finished)
            return interrupt.take()

        sweep = run_sweep(
            configuration,
            plan,
            folder,
            num_jobs=jobs,
            ray_address=ray_address or ("auto" if ray else None),
            retry=retry,
            advance=advance,
        )
    if as_json:
        print_json(_make_figures(sweep))
    else:
        make_console().print(_make_result_table(sweep))
        print_text(f"table: {sweep.table}" + (f", plot: {sweep.plot}" if sweep.plot else ""))
    return _conclude(sweep, messages)


def _list_units(plan: Plan, folder: Path, retry: bool, as_json: bool) -> None:
    """Prints the units, and which of them are finished."""
    waiting = {unit.key for unit in select_waiting(plan, read_journal(folder), retry=retry)}
    if as_json:
        units = [
            {"key": unit.key, **unit.inputs(), "finished": unit.key not in waiting}
            for unit in plan.units
        ]
        print_json({"units": units, "out": str(folder)})
        return
    headings = ("", "scene", "contact model", "time step", *plan.parameters, "seed", "steps")
    rows = []
    for unit in plan.units:
        parameters = (unit.parameters.get(name) for name in plan.parameters)
        rows.append(
            (
                "" if unit.key in waiting else "finished",
                unit.scene,
                unit.contact_model,
                f"{unit.time_step:g} s",
                *("-" if value is None else str(value) for value in parameters),
                str(unit.seed),
                str(unit.num_steps),
            )
        )
    make_console().print(make_text_table(headings, rows, no_wrap=True))
    same = plan.num_combinations - len(plan.units)
    note = f"; {same} other combinations are the same runs" if same else ""
    print_text(f"{len(plan.units)} units, {len(waiting)} to run{note}")


@contextlib.contextmanager
def _show_progress(
    messages: Messages, plan: Plan, num_waiting: int
) -> Iterator[Callable[[Finished | None], None]]:
    """A context that shows the finished and the failed units on a terminal."""
    if not messages.console.file.isatty():
        yield lambda finished: None
        return
    columns = (
        BarColumn(),
        TextColumn("{task.completed} of {task.total} runs{task.fields[failed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=messages.console, transient=True) as progress:
        total = len(plan.units)
        task = progress.add_task("", total=total, completed=total - num_waiting, failed="")
        num_failed = 0

        def show(finished: Finished | None) -> None:
            nonlocal num_failed
            if finished is None:
                return
            num_failed += finished.results["status"] != "ok"
            failed = f", {num_failed} failed" if num_failed else ""
            progress.update(task, advance=1, failed=failed)

        yield show


def _make_figures(sweep: SweepResult) -> dict[str, Any]:
    names = ("num_units", "num_reused", "num_stale", "interrupted")
    return {
        **{name: getattr(sweep, name) for name in names},
        "table": str(sweep.table),
        "plot": str(sweep.plot) if sweep.plot else None,
        "rows": sweep.rows,
    }


# Heading, unit, column of the rows, and factor of the columns of the printed table.
_COLUMNS = (
    ("creep", "um/s", "creep", 1e6),
    ("drift", "um", "drift", 1e6),
    ("penetration", "um", "penetration", 1e6),
    ("error bound", "um/s", "velocity_bound", 1e6),
    ("iterations", "1/step", "iterations", 1),
    ("contacts", "", "contacts", 1),
    ("CPU", "us/step", "cpu_us_per_step", 1),
)


def _make_result_table(sweep: SweepResult) -> Table:
    """Makes a table with a row for each scene, model and time step: medians over all else."""
    title = f"{len(sweep.rows)} of {sweep.num_units} runs, {sweep.num_reused} from before; medians"
    used = [c for c in _COLUMNS if any(row[c[2]] is not None for row in sweep.rows)]
    headings = ["scene\n", "contact model\n", "time step\nms", "runs\n", "failed\n"]
    headings += [f"{heading}\n{unit}" for heading, unit, *_ in used]
    table = []
    groups: dict[tuple[str, str, float], list[Row]] = {}
    for row in sweep.rows:
        key = row["scene"], row["contact_model"], row["time_step"]
        groups.setdefault(key, []).append(row)
    for (scene, model, step), rows in groups.items():
        failed = sum(row["status"] != "ok" for row in rows)
        cells = [scene, model, f"{1e3 * step:g}", str(len(rows)), str(failed) if failed else ""]
        cells += [_find_median(rows, column, factor) for _, _, column, factor in used]
        table.append(cells)
    align = "llllr" + "r" * len(used)
    return make_text_table(headings, table, align, title=title, no_wrap=True)


def _find_median(rows: list[Row], column: str, factor: float) -> str:
    values = [row[column] for row in rows if row[column] is not None]
    return f"{factor * median(values):.4g}" if values else "-"


def _conclude(sweep: SweepResult, messages: Messages) -> ExitCode:
    """Prints what went wrong, and returns the exit code."""
    if sweep.num_stale:
        messages.warn(
            f"{sweep.num_stale} results in {sweep.table and sweep.table.parent} are not used, because "
            "they belong to another configuration, another content of a scene, or another version"
        )
    failed = [row for row in sweep.rows if row["status"] != "ok"]
    for row in failed[:_MAX_LISTED]:
        messages.fail(f"{_describe(row)}: {row['status']}: {row['message']}")
    if len(failed) > _MAX_LISTED:
        counts = Counter(row["status"] for row in failed)
        more = ", ".join(f"{n} {status}" for status, n in counts.most_common())
        messages.fail(f"{len(failed)} of {len(sweep.rows)} runs failed ({more}); see the table")
    if sweep.interrupted:
        left = sweep.num_units - len(sweep.rows)
        messages.fail(f"interrupted; {left} runs are left, and the same command goes on with them")
        return ExitCode.INTERRUPTED
    if any("certificate_failed" in row["status"] for row in failed):
        return ExitCode.CERTIFICATE_FAILED
    return ExitCode.FAILURE if failed else ExitCode.OK


def _describe(row: Row) -> str:
    known = ("scene", "contact_model", "time_step", "duration", "controls", "seed")
    names = list(row)
    varied = names[len(known) : names.index("status")]
    parts = [row["scene"], row["contact_model"], f"{row['time_step']:g} s"]
    return ", ".join([*parts, *(f"{name}={row[name]}" for name in varied)])
