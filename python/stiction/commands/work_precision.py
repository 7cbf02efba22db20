"""`stiction bench work_precision` and `error_control`: error against CPU time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from stiction.commands.bench import Repeats, bench_app
from stiction.commands.bench_tables import print_curves
from stiction.commands.options import (
    Json,
    Tolerance,
    make_drake_option,
    make_models_option,
    make_scenes_argument,
)
from stiction.commands.output import Messages, make_console, print_json
from stiction.evidence.bench import error_control
from stiction.evidence.bench.clutter_work import run_clutter_work
from stiction.evidence.bench.planar_work import PLANAR_WORK, run_planar_work
from stiction.evidence.bench.work_precision import WorkCurves
from stiction.evidence.studies.study import write_figures
from stiction.inputs.names import find_compliant_models
from stiction.setup.options import DEFAULTS
from stiction.tables.output_files import make_plain

SCENES = (*PLANAR_WORK, "clutter")


def _make_out_option(name: str) -> Any:
    return typer.Option(
        metavar="DIR", help=f"Folder for {name}.json and .png; default: not written."
    )


@bench_app.command("work_precision")
def bench_work_precision(
    scenes: Annotated[list[str] | None, make_scenes_argument(SCENES)] = None,
    contact_model: Annotated[list[str] | None, make_models_option("all compliant models")] = None,
    tolerance: Tolerance = DEFAULTS["tolerance"],
    quick: Annotated[bool, typer.Option("--quick", help="Take fewer, larger steps.")] = False,
    repeats: Repeats = 5,
    drake: Annotated[bool | None, make_drake_option("Run Drake's models")] = None,
    as_json: Json = False,
    out: Annotated[Path | None, _make_out_option("work_precision")] = None,
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
            for scene in scenes or SCENES
        ]
    figures = {"tolerance": tolerance, "scenes": [asdict(c) for c in curves]}
    _print(curves, figures, messages, as_json)
    _write("work_precision", curves, figures, out)


@bench_app.command("error_control")
def bench_error_control(
    scenes: Annotated[list[str] | None, make_scenes_argument(list(error_control.SCENES))] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Take fewer accuracies.")] = False,
    repeats: Repeats = 3,
    drake: Annotated[bool | None, make_drake_option("Run CENIC")] = None,
    as_json: Json = False,
    out: Annotated[Path | None, _make_out_option("error_control")] = None,
) -> None:
    """Measure error against CPU time of Simulator.advance, beside Drake's integrator CENIC.

    Both choose their steps by an accuracy. The error is the distance to a reference of the same
    simulator, and on the incline to the law of the slip tolerance.
    """
    messages = Messages()
    with messages.show_warnings(), messages.show_status("error_control") as tell:
        curves = [
            error_control.run_error_control(
                name, quick=quick, num_repeats=repeats, with_drake=drake, tell=tell
            )
            for name in scenes or error_control.SCENES
        ]
    advantages = [error_control.calc_advantages(each) for each in curves]
    pairs = list(zip(curves, advantages, strict=True))
    figures = {"scenes": [{**asdict(c), "advantage": ratios} for c, ratios in pairs]}
    _print(curves, figures, messages, as_json)
    for of_scene, ratios in pairs:
        if ratios and not as_json:
            texts = ", ".join(f"{ratio:.3g} at {a:g}" for a, ratio in ratios.items())
            make_console().print(
                f"{of_scene.scene}: error times CPU time of CENIC over ours: {texts}"
            )
    _write("error_control", curves, figures, out)


def _print(
    curves: Sequence[WorkCurves], figures: dict[str, Any], messages: Messages, as_json: bool
) -> None:
    for note in dict.fromkeys(note for of_scene in curves for note in of_scene.notes):
        messages.warn(note)
    if as_json:
        print_json(figures)
    else:
        print_curves(curves)


def _write(
    name: str, curves: Sequence[WorkCurves], figures: dict[str, Any], out: Path | None
) -> None:
    if out is not None:
        # Imported here because it loads matplotlib, which would slow down all other commands.
        from stiction.evidence.bench.work_plots import draw_work

        write_figures(name, make_plain(figures), {name: draw_work(list(curves))}, out)
