"""`stiction grasp`: how safely a body is held under each contact model."""

from __future__ import annotations

import math
from typing import Annotated

import typer
from rich.table import Table

from stiction import contact_models
from stiction.analysis.grasp.grasp import Grasp, GraspRow, measure_grasp
from stiction.commands.app import ExitCode, app
from stiction.commands.options import FrictionLaw, Json, RunOptions, SceneFile, make_models_option
from stiction.commands.output import Messages, make_console, print_json
from stiction.inputs.names import advise_elastic
from stiction.runs.controls import count_steps, default_duration
from stiction.setup.options import DEFAULTS
from stiction.tables.text_table import make_text_table

_GOOD = ("held", "supported")


@app.command()
def grasp(
    scene: SceneFile,
    body: Annotated[str, typer.Argument(help="Name of the held body.")],
    *,
    contact_model: Annotated[list[str] | None, make_models_option("all")] = None,
    friction_law: FrictionLaw = DEFAULTS["friction_law"],
    how: RunOptions,
    as_json: Json = False,
) -> int:
    """Report the slip margin, creep and torsional limit of a held body under each contact model.

    The scene runs with its controls, and the body must hang in the grip at the end: a schedule lifts it,
    see --controls. A body that stands on the floor is supported, and not held.

    The slip margin is the share of friction that the weight leaves.
    Creep is the slip speed under the weight, predicted and measured; turning is the speed at which the
    body turns in its grip. The torsional limit is the largest torque about the grasp axis that friction
    carries. A body that was dropped is answered with the force that its grip lacked, and from when on.

    Exit codes: 0 every model holds the body, 1 one drops it or fails, 2 wrong usage, 130 Ctrl-C.
    """
    messages = Messages()
    with messages.show_warnings():
        loaded = how.load(scene)
    models = list(dict.fromkeys(contact_model or contact_models()))
    step = how.time_step or float(loaded.model.opt.timestep)
    num_steps = count_steps(how.duration or default_duration(loaded), step) * len(models)
    with messages.show_runs(num_steps, step) as after_step:
        result = measure_grasp(
            loaded,
            body,
            models,
            friction_law=friction_law,
            time_step=how.time_step,
            duration=how.duration,
            controls=how.controls,
            seed=how.seed,
            options=how.options,
            after_step=after_step,
        )
    if as_json:
        print_json(result.figures())
    else:
        make_console().print(_make_grasp_table(result))
    if result.interrupted:
        messages.fail("interrupted; the last row covers only the steps made so far")
        return ExitCode.INTERRUPTED
    for row in result.rows:
        for note in row.notes:
            messages.warn(f"{row.label}: {note}")
        if row.message:
            report = messages.warn if row.status in _GOOD else messages.fail
            report(f"{row.label}: {row.message}")
    if advice := advise_elastic(result.find_creeping(), friction_law, result.body):
        messages.warn(advice)
    return ExitCode.OK if all(r.status in _GOOD for r in result.rows) else ExitCode.FAILURE


def _make_grasp_table(result: Grasp) -> Table:
    title = (
        f"'{result.body}' with {result.load:.4g} N; a run of {result.duration:.4g} s, hold from "
        f"{result.hold_start:.4g} s on"
    )
    headings = (
        "contact model",
        "normal force\nN",
        "slip margin\n%",
        "worst contact\n% of bound",
        "creep\num/s",
        "predicted\num/s",
        "turning\nmrad/s",
        "predicted\nmrad/s",
        "torsional limit\nN m",
        "status",
    )
    cells = map(_make_cells, result.rows)
    return make_text_table(headings, cells, "lrrrrrrrr", title=title, no_wrap=True)


def _make_cells(row: GraspRow) -> tuple[str, ...]:
    def format_value(value: float | None, scale: float = 1.0) -> str:
        if value is None:
            return "-"
        return "any" if math.isinf(value) and value > 0 else f"{scale * value:.4g}"

    return (
        row.label,
        format_value(row.normal_force),
        format_value(row.slip_margin, 100),
        format_value(row.worst_share, 100),
        format_value(row.creep_measured, 1e6),
        format_value(row.creep_predicted, 1e6),
        format_value(row.turning_measured, 1e3),
        format_value(row.turning_predicted, 1e3),
        format_value(row.torsional_limit),
        row.status,
    )
