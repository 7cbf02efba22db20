"""`stiction run`: steps a scene, and records the run on request."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Any

import typer

from stiction.analysis.artifacts import table as artifact_table
from stiction.analysis.artifacts.budget import ArtifactLog
from stiction.analysis.artifacts.predictions import is_predicted
from stiction.binding.interrupts import DeferredInterrupt
from stiction.commands import options
from stiction.commands.app import ExitCode, app
from stiction.commands.output import Messages, make_console, print_json
from stiction.recording import format as fmt
from stiction.recording.recorder import Recorder
from stiction.runs.run import Run, RunEnd, RunSettings, Step
from stiction.runs.run_summary import RunSummary, calc_energy, explain_fallbacks, make_table
from stiction.scene import load_scene
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

_STRIDE = 10  # of the steps whose contacts count in the artifacts, so that they cost little
_MAX_SHOWN = 3  # pairs whose artifacts are printed; the JSON has more


@app.command("run")
def run_command(
    scene: options.SceneFile,
    contact_model: options.ContactModel = DEFAULTS["contact_model"],
    integrator: options.Integrator = DEFAULTS["integrator"],
    normal_law: options.NormalLaw = DEFAULTS["normal_law"],
    friction_law: options.FrictionLaw = DEFAULTS["friction_law"],
    tessellation: options.Tessellation = DEFAULTS["tessellation"],
    quadrature: options.Quadrature = DEFAULTS["quadrature"],
    time_step: options.TimeStep = None,
    duration: options.Duration = None,
    accuracy: options.Accuracy = None,
    period: options.Period = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="MCAP file to record the run in.")
    ] = None,
    foxglove: Annotated[
        bool,
        typer.Option(
            "--foxglove", help="Record also with the schemas of Foxglove and ROS 2; see --record."
        ),
    ] = False,
    as_json: options.Json = False,
    controls: options.Controls = None,
    seed: options.Seed = 0,
    num_threads: options.NumThreads = DEFAULTS["num_threads"],
    tolerance: options.Tolerance = DEFAULTS["tolerance"],
    properties: options.Properties = None,
    settings: options.Settings = None,
) -> int:
    """Step a scene and print the cost of its steps and the bounds on their errors.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a step failed its certificate, 130 Ctrl-C.
    """
    messages = Messages()
    if foxglove and not record:
        raise typer.BadParameter("--foxglove needs --record FILE, which names the file to write")
    others: dict[str, Any] = dict(settings or ())
    choices: dict[str, Any] = {
        "integrator": integrator,
        "normal_law": normal_law,
        "friction_law": friction_law,
        "tessellation": tessellation,
        "quadrature": quadrature,
    }
    with messages.show_warnings() as texts:
        loaded = load_scene(scene, properties)
        how = RunSettings(
            loaded,
            contact_model,
            time_step,
            duration,
            accuracy,
            period,
            controls,
            seed,
            {**choices, "tolerance": tolerance, "num_threads": num_threads, **others},
            record,
        )
        simulator = how.make_simulator()
    controls = how.find_controls()
    run = how.make_run(simulator)
    energy_start = calc_energy(loaded.model, fmt.get_state(loaded.model, run.data))
    notes = {"controls": controls.value, "seed": str(seed)}
    with contextlib.ExitStack() as stack:
        if record:
            run.stepper = stack.enter_context(
                Recorder(record, simulator, scene=loaded.path, notes=notes, foxglove=foxglove)
            )
        log = ArtifactLog(simulator, turning_stride=1)  # its steps are those of _STRIDE
        summary, interrupted = _step(run, simulator, messages, log)
    budgets = log.calc_budgets()
    notes_of_artifacts = [budget.describe() for budget in budgets if budget.note]

    state = fmt.get_state(loaded.model, run.data)
    figures = {
        "scene": str(scene),
        "contact_model": contact_model,
        **choices,
        "settings": others,
        "time_step": simulator.time_step,
        "controls": controls.value,
        "seed": seed,
        "accuracy": accuracy,
        "period": None if accuracy is None else run.calls.length,
        "requested_steps": run.calls.count,
        "interrupted": interrupted,
        **summary.figures(),
        "point_fallbacks": explain_fallbacks(simulator, summary.fallbacks),
        "energy": {"start": energy_start, "end": calc_energy(loaded.model, state)},
        "state_digest": fmt.hash_bytes(state.tobytes()).hex(),
        "artifacts": [budget.figures() for budget in budgets],
        "warnings": texts + summary.warnings() + notes_of_artifacts,
        "recording": str(record) if record else None,
    }
    if as_json:
        print_json(figures)
    else:
        steps = (
            f"steps of {simulator.time_step:g} s"
            if accuracy is None
            else f"an accuracy of {accuracy:g} m in periods of {run.calls.length:g} s"
        )
        title = f"{scene.name}, {contact_model}, {steps}"
        console = make_console()
        console.print(make_table(title, figures))
        if budgets and is_predicted(contact_model):
            rows = [(contact_model, budget) for budget in budgets[:_MAX_SHOWN]]
            console.print(artifact_table.make_table(rows))
    for text in (*summary.warnings(), *notes_of_artifacts):
        messages.warn(text)
    return _conclude(figures, messages)


def _step(
    run: Run, simulator: Simulator, messages: Messages, log: ArtifactLog
) -> tuple[RunSummary, bool]:
    """Steps until the end, a failed step or Ctrl-C.

    Returns the summary, and whether Ctrl-C ended the run.
    """
    with (
        DeferredInterrupt() as interrupt,
        messages.show_progress(run.calls.count, run.calls.length) as advance,
    ):
        summary = RunSummary(simulator.contact_model, run.calls.length)

        def observe(step: Step) -> None:
            summary.add(step.report)
            if step.index % _STRIDE == 0:
                log.add(step.report, step.data)
            advance()

        end = run.to_end(observe, stop=interrupt.take)
    if end == RunEnd.failed and run.report is not None:
        summary.add(run.report)
    return summary, end == RunEnd.stopped


def _conclude(figures: dict[str, Any], messages: Messages) -> ExitCode:
    """Prints the failure if there is one, and returns the exit code."""
    status, num_steps = figures["status"], figures["num_steps"]
    if status != "ok":
        call = "step" if figures["accuracy"] is None else "period"
        messages.fail(f"{call} {num_steps + 1} failed ({status}): {figures['message']}")
    elif figures["interrupted"]:
        calls = "steps" if figures["accuracy"] is None else "periods"
        messages.fail(f"interrupted after {num_steps} of {figures['requested_steps']} {calls}")
        return ExitCode.INTERRUPTED
    else:
        return ExitCode.OK
    is_certificate = "certificate_failed" in status
    return ExitCode.CERTIFICATE_FAILED if is_certificate else ExitCode.FAILURE
