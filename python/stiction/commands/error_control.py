"""`stiction bench error_control`: error against CPU time of Simulator.advance and Drake's CENIC."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from stiction.commands import options
from stiction.commands.bench import Repeats, bench_app
from stiction.commands.output import Messages, make_console, print_json
from stiction.commands.work_precision import print_tables
from stiction.evidence.bench.error_control import SCENES, calc_advantages, run_error_control
from stiction.evidence.studies.study import write_figures
from stiction.tables.output_files import make_plain

_check_scenes = options.make_scenes_check(list(SCENES))


@bench_app.command("error_control")
def bench_error_control(
    scenes: Annotated[
        list[str] | None,
        typer.Argument(
            callback=_check_scenes, metavar="SCENE", help=f"{', '.join(SCENES)}; default: all."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Take fewer accuracies.")] = False,
    repeats: Repeats = 3,
    drake: Annotated[
        bool | None,
        typer.Option("--drake/--no-drake", help="Run CENIC too; the default is yes if installed."),
    ] = None,
    as_json: options.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for error_control.json and .png; default: not written."
        ),
    ] = None,
) -> None:
    """Measure error against CPU time of Simulator.advance, beside Drake's integrator CENIC.

    Both choose their steps by an accuracy. The error is the distance to a reference of the same
    simulator, and on the incline to the law of the slip tolerance.
    """
    messages = Messages()
    with messages.show_warnings(), messages.show_status("error_control") as tell:
        curves = [
            run_error_control(name, quick=quick, num_repeats=repeats, with_drake=drake, tell=tell)
            for name in _check_scenes(scenes)
        ]
    figures = [{**asdict(c), "advantage": calc_advantages(c)} for c in curves]
    description = make_plain({"scenes": figures})
    for note in dict.fromkeys(note for of_scene in curves for note in of_scene.notes):
        messages.warn(note)
    if as_json:
        print_json(description)
    else:
        print_tables(curves)
        for of_scene in curves:
            if advantages := calc_advantages(of_scene):
                texts = ", ".join(f"{ratio:.3g} at {a:g}" for a, ratio in advantages.items())
                make_console().print(
                    f"{of_scene.scene}: error times CPU time of CENIC over ours: {texts}"
                )
    if out is not None:
        # Imported here because it loads matplotlib, which would slow down all other commands.
        from stiction.evidence.bench.work_plots import draw_work

        write_figures("error_control", description, {"error_control": draw_work(curves)}, out)
