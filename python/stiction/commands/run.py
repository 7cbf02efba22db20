"""`stiction run`: steps a scene, and records the run on request."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import mujoco
import typer

from stiction.analysis.artifacts import table as artifact_table
from stiction.analysis.artifacts.budget import ArtifactLog, PairBudget
from stiction.analysis.artifacts.predictions import is_predicted
from stiction.binding.interrupts import DeferredInterrupt
from stiction.commands.app import ExitCode, app
from stiction.commands.options import (
    ContactModel,
    ErrorControl,
    Json,
    Methods,
    RunOptions,
    SceneFile,
    Solver,
)
from stiction.commands.output import Messages, make_console, print_json
from stiction.recording import format as fmt
from stiction.recording.recorder import Recorder
from stiction.runs.run import Run, RunEnd, RunSettings, Step
from stiction.runs.run_summary import RunSummary, calc_energy, explain_fallbacks, make_table
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

_STRIDE = 10  # of the steps whose contacts count in the artifacts, so that they cost little
_MIN_SECONDS = 5.0  # wall time to measure artifacts [s]; after a longer run, the time that it took
_MAX_SHOWN = 3  # pairs whose artifacts are printed; the JSON has more


@dataclass(frozen=True)
class Recording:
    """The file in which the run is recorded."""

    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="MCAP file to record the run in.")
    ] = None
    foxglove: Annotated[
        bool,
        typer.Option(
            "--foxglove", help="Record also with the schemas of Foxglove and ROS 2; see --record."
        ),
    ] = False


@app.command("run")
def run_command(
    scene: SceneFile,
    *,
    contact_model: ContactModel = DEFAULTS["contact_model"],
    recording: Recording,
    how: RunOptions,
    methods: Methods,
    errors: ErrorControl,
    solver: Solver,
    artifacts: Annotated[
        bool, typer.Option(help="Measure the artifacts of the contact model in this run.")
    ] = True,
    as_json: Json = False,
) -> int:
    """Step a scene and print the cost of its steps and the bounds on their errors.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a step failed its certificate, 130 Ctrl-C.
    """
    messages = Messages()
    if recording.foxglove and not recording.record:
        raise typer.BadParameter("--foxglove needs --record FILE, which names the file to write")
    with messages.show_warnings() as texts:
        settings = RunSettings(
            how.load(scene),
            contact_model,
            how.time_step,
            how.duration,
            errors.accuracy,
            errors.period,
            how.controls,
            how.seed,
            {**vars(methods), **vars(solver), **how.options},
        )
        simulator = settings.make_simulator()
    loaded = settings.scene
    run = settings.make_run(simulator)
    energy_start = calc_energy(loaded.model, fmt.get_state(loaded.model, run.data))
    log = ArtifactLog(simulator, turning_stride=1)  # its steps are those of _STRIDE
    begin = time.monotonic()
    with _open(simulator, settings, recording) as stepper:
        run.stepper = stepper
        summary, interrupted = _step(run, simulator, messages, log)
    budgets = _measure(log, time.monotonic() - begin, messages) if artifacts else []
    warnings = summary.warnings() + [each.describe() for each in budgets if each.note]
    figures = {
        "scene": str(scene),
        "contact_model": contact_model,
        **vars(methods),
        "settings": how.options,
        **_describe_request(settings, run),
        "requested_steps": run.calls.count,
        "interrupted": interrupted,
        **summary.figures(),
        "point_fallbacks": explain_fallbacks(simulator, summary.fallbacks),
        **_describe_end(loaded.model, run.data, energy_start),
        "artifacts": [budget.figures() for budget in budgets],
        "warnings": texts + warnings,
        "recording": str(recording.record) if recording.record else None,
    }
    _print_results(scene.name, figures, budgets, as_json)
    for text in warnings:
        messages.warn(text)
    return _conclude(figures, messages)


def _measure(log: ArtifactLog, seconds: float, messages: Messages) -> list[PairBudget]:
    """Measures the artifacts, for at most the time that the run took [s], or 5 s."""
    with messages.show_status("measuring the artifacts of the contact model"):
        return log.calc_budgets(max_seconds=max(seconds, _MIN_SECONDS))


def _open(
    simulator: Simulator, settings: RunSettings, to: Recording
) -> contextlib.AbstractContextManager[Simulator | Recorder]:
    """Opens the recorder, if the run is recorded. The context has what makes the steps."""
    if to.record is None:
        return contextlib.nullcontext(simulator)
    notes = {"controls": settings.find_controls().value, "seed": str(settings.seed)}
    path = settings.scene.path
    return Recorder(to.record, simulator, scene=path, notes=notes, foxglove=to.foxglove)


def _describe_request(settings: RunSettings, run: Run) -> dict[str, Any]:
    return {
        "time_step": settings.find_time_step(),
        "controls": settings.find_controls().value,
        "seed": settings.seed,
        "accuracy": settings.accuracy,
        "period": None if settings.accuracy is None else run.calls.length,
    }


def _describe_end(
    model: mujoco.MjModel, data: mujoco.MjData, energy_start: dict[str, float]
) -> dict[str, Any]:
    state = fmt.get_state(model, data)
    return {
        "energy": {"start": energy_start, "end": calc_energy(model, state)},
        "state_digest": fmt.hash_bytes(state.tobytes()).hex(),
    }


def _print_results(
    name: str, figures: dict[str, Any], budgets: list[PairBudget], as_json: bool
) -> None:
    if as_json:
        print_json(figures)
        return
    steps = (
        f"steps of {figures['time_step']:g} s"
        if figures["accuracy"] is None
        else f"an accuracy of {figures['accuracy']:g} m in periods of {figures['period']:g} s"
    )
    model = figures["contact_model"]
    console = make_console()
    console.print(make_table(f"{name}, {model}, {steps}", figures))
    if budgets and is_predicted(model):
        rows = [(model, budget) for budget in budgets[:_MAX_SHOWN]]
        console.print(artifact_table.make_table(rows))


def _step(
    run: Run, simulator: Simulator, messages: Messages, log: ArtifactLog
) -> tuple[RunSummary, bool]:
    """Returns the summary of a run, and whether Ctrl-C ended it."""
    summary = RunSummary(simulator.contact_model, run.calls.length)
    with (
        DeferredInterrupt() as interrupt,
        messages.show_progress(run.calls.count, run.calls.length) as advance,
    ):

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
