"""`stiction bench work_precision`: error against CPU time, as a table, JSON and a plot."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from stiction.commands import options
from stiction.commands.bench import Repeats, bench_app
from stiction.commands.output import Messages, make_console, print_json
from stiction.evidence.bench.clutter_work import run_clutter_work
from stiction.evidence.bench.planar_work import PLANAR_WORK, run_planar_work
from stiction.evidence.bench.work_precision import WorkCurves, WorkPoint
from stiction.evidence.studies.study import write_figures
from stiction.inputs.names import find_compliant_models
from stiction.setup.options import DEFAULTS
from stiction.tables.output_files import make_plain

SCENES = (*PLANAR_WORK, "clutter")


_check_scenes = options.make_scenes_check(SCENES)


@bench_app.command("work_precision")
def bench_work_precision(
    scenes: Annotated[
        list[str] | None,
        typer.Argument(
            callback=_check_scenes, metavar="SCENE", help=f"{', '.join(SCENES)}; default: all."
        ),
    ] = None,
    contact_model: Annotated[
        list[str] | None, options.make_models_option("all compliant models")
    ] = None,
    tolerance: options.Tolerance = DEFAULTS["tolerance"],
    quick: Annotated[bool, typer.Option("--quick", help="Take fewer, larger steps.")] = False,
    repeats: Repeats = 5,
    drake: Annotated[
        bool | None,
        typer.Option(
            "--drake/--no-drake", help="Run Drake's models too; the default is yes if installed."
        ),
    ] = None,
    as_json: options.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for work_precision.json and .png; default: not written."
        ),
    ] = None,
) -> None:
    """Measure error against CPU time for all contact models and other simulators.

    The planar scenes are those of the studies. They run with time steps from large to small, and
    the error is the root mean square distance to the study's reference. Clutter runs with
    tolerances from loose to tight, and the error is that of a step's velocities, relative to an
    accurate solution of the same step by the same simulator.
    """
    messages = Messages()
    with messages.show_warnings(), messages.show_status("work_precision") as tell:
        models = contact_model or find_compliant_models()
        common: dict[str, Any] = {"quick": quick, "num_repeats": repeats, "tell": tell}
        curves = [
            run_clutter_work(models, **common)
            if scene == "clutter"
            else run_planar_work(scene, models, tolerance=tolerance, with_drake=drake, **common)
            for scene in _check_scenes(scenes)
        ]
    description = make_plain({"tolerance": tolerance, "scenes": [asdict(c) for c in curves]})
    for note in dict.fromkeys(note for of_scene in curves for note in of_scene.notes):
        messages.warn(note)
    if as_json:
        print_json(description)
    else:
        print_tables(curves)
    if out is not None:
        # Imported here because it loads matplotlib, which would slow down all other commands.
        from stiction.evidence.bench.work_plots import draw_work

        write_figures("work_precision", description, {"work_precision": draw_work(curves)}, out)


def print_tables(curves: list[WorkCurves]) -> None:
    """Prints a table of each scene and each setting that varies."""
    console = make_console()
    for of_scene in curves:
        for knob in dict.fromkeys(point.knob for point in of_scene.points):
            title = f"{of_scene.scene}: {of_scene.error}, {of_scene.work}, by {knob}"
            console.print(title, markup=False)
            console.print(_make_table(of_scene, knob))
            console.print()


def _make_table(curves: WorkCurves, knob: str) -> Table:
    """Makes a table of steppers (rows) and settings (columns).

    Each cell has the error and the time, with a star if steps failed.
    """
    points = [point for point in curves.points if point.knob == knob]
    settings = sorted({point.setting for point in points}, reverse=knob != "iterations")
    table = Table(box=None, pad_edge=False)
    table.add_column("stepper")
    for setting in settings:
        table.add_column(f"{setting:g}", justify="right", no_wrap=True)
    for name in dict.fromkeys(point.stepper for point in points):
        of_stepper = {point.setting: point for point in points if point.stepper == name}
        cells = (_format_cell(of_stepper.get(setting)) for setting in settings)
        table.add_row(name, *cells)
    return table


def _format_cell(point: WorkPoint | None) -> str:
    if point is None:
        return ""
    if point.error is None or point.cpu_ms is None:
        return "failed"
    return f"{point.error:.1e} {point.cpu_ms:.3g}{'*' if point.failed_steps else ''}"
