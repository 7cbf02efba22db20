"""`stiction converge`: the observed order of convergence, and the step that an accuracy takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.markup import escape

from stiction.analysis.converge.convergence import Convergence, measure_convergence
from stiction.analysis.converge.table import make_table
from stiction.commands.app import ExitCode, app
from stiction.commands.options import FrictionLaw, Json, RunOptions, SceneFile, make_models_option
from stiction.commands.output import Messages, make_console, print_json
from stiction.commands.parsing import check_positive, parse_time
from stiction.inputs.names import find_compliant_models
from stiction.runs.controls import count_steps, default_duration
from stiction.setup.options import DEFAULTS


@dataclass(frozen=True)
class _Options(RunOptions):
    time_step: Annotated[
        float | None,
        typer.Option(
            parser=parse_time,
            metavar="TIME",
            help="The largest step; the default is the scene's own. Each further run has half of it.",
        ),
    ] = None
    period: Annotated[
        float | None,
        typer.Option(
            parser=parse_time,
            metavar="TIME",
            help="Time between two controls of every run, a multiple of the largest step. The default is "
            "this step.",
        ),
    ] = None


@app.command()
def converge(
    scene: SceneFile,
    *,
    contact_model: Annotated[list[str] | None, make_models_option("all compliant models")] = None,
    friction_law: FrictionLaw = DEFAULTS["friction_law"],
    how: _Options,
    num_steps: Annotated[int, typer.Option("--steps", min=3, max=16, help="Number of steps.")] = 5,
    accuracy: Annotated[
        float,
        typer.Option(callback=check_positive, help=escape("Error that the step should reach [m].")),
    ] = 1e-3,
    as_json: Json = False,
) -> int:
    """Run a scene over falling time steps, and report the order of convergence and the step to take.

    The error of a run is the root mean square over time of its distance from the limit of small
    steps, which Richardson's extrapolation gives. Distances are in meters; rotations count with the
    lever of the farthest point that they move. A chaotic scene is named, and judged only as long as
    one trajectory can be followed.

    Exit codes: 0 success, 1 a run failed or no step reaches the accuracy, 2 wrong usage, 130 Ctrl-C.
    """
    messages = Messages()
    with messages.show_warnings():
        loaded = how.load(scene)
    models = list(dict.fromkeys(contact_model or find_compliant_models()))
    step = how.time_step or float(loaded.model.opt.timestep)
    num_samples = count_steps(how.duration or default_duration(loaded), step)
    total = len(models) * num_samples * (2**num_steps + 3)  # the runs, and two displaced ones
    with messages.show_runs(total, step) as after_step:
        result = measure_convergence(
            loaded,
            models,
            friction_law=friction_law,
            time_step=how.time_step,
            num_steps=num_steps,
            duration=how.duration,
            accuracy=accuracy,
            controls=how.controls,
            seed=how.seed,
            period=how.period,
            options=how.options,
            after_step=after_step,
        )
    if as_json:
        print_json(result.figures())
    else:
        make_console().print(make_table(result))
    return _conclude(result, messages)


def _conclude(result: Convergence, messages: Messages) -> ExitCode:
    """Prints what the status of each model means, and returns the exit code."""
    if result.interrupted:
        messages.fail("interrupted; the table has the models so far")
        return ExitCode.INTERRUPTED
    code = ExitCode.OK
    for model in result.models:
        has_failed = model.status in ("failed", "refused")
        if model.message:
            report = messages.fail if has_failed else messages.warn
            report(f"{model.label}: {model.message}")
        if has_failed or model.accurate_step is None:
            code = ExitCode.FAILURE
    return code
