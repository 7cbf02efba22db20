"""`stiction replay`: repeats the steps of a recording."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from stiction.binding.interrupts import DeferredInterrupt
from stiction.commands.app import ExitCode, app
from stiction.commands.options import Json, NumThreads, RecordingFile
from stiction.commands.output import Messages, make_console, print_json, print_text
from stiction.recording import Recording
from stiction.recording.replay import Difference, Replay, find_differences
from stiction.runs.run_summary import RunSummary, make_table
from stiction.setup.options import DEFAULTS


@app.command("replay")
def replay_command(
    file: RecordingFile,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every step with the recording, bit for bit.")
    ] = False,
    as_json: Json = False,
    from_step: Annotated[
        int, typer.Option(min=0, help="Start from the recorded state after this many steps.")
    ] = 0,
    num_threads: NumThreads = DEFAULTS["num_threads"],
    properties: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Contact properties; replace the recorded properties."),
    ] = None,
) -> int:
    """Repeat the steps of a recording, with the scene and the inputs that it contains.

    A truncated recording is replayed up to its last whole step.

    Exit codes: 0 success; 1 a step differs, a step fails that did not fail when recorded, or the
    file is damaged; 2 wrong usage.
    """
    messages = Messages()
    recording = Recording(file)
    environment = find_differences(recording.metadata)
    for text in environment:
        messages.warn(text)
    if recording.damage:
        messages.warn(f"{file}: {recording.damage}; {len(recording)} whole steps can be read")

    changed = {} if properties is None else {"properties": properties}
    with messages.show_warnings():
        steps = Replay(recording, from_step=from_step, num_threads=num_threads, **changed)
    summary, difference, interrupted = _replay(steps, len(recording) - from_step, verify, messages)
    figures = {
        "recording": str(file),
        "scene": recording.metadata.get("scene", ""),
        "contact_model": steps.simulator.contact_model,
        "time_step": steps.simulator.time_step,
        "environment_differences": environment,
        "damage": asdict(recording.damage) if recording.damage else None,
        "recorded_steps": len(recording),
        "from_step": from_step,
        "interrupted": interrupted,
        **summary.figures(),
        "bit_exact": difference is None if verify and not interrupted else None,
        "difference": asdict(difference) if difference else None,
    }
    if as_json:
        print_json(figures)
    else:
        _print_table(file.name, figures, summary)
    if difference:
        messages.fail(f"{file}: {difference}")
    elif interrupted:
        messages.fail(f"interrupted after {summary.num_steps} steps")
        return ExitCode.INTERRUPTED
    elif recording.damage and not recording.damage.is_truncated:
        messages.fail(f"{file}: {recording.damage}")
    else:
        return ExitCode.OK
    return ExitCode.FAILURE


def _print_table(name: str, figures: dict[str, Any], summary: RunSummary) -> None:
    is_fixed = figures["advance"] is None
    lengths = f"steps of {figures['time_step']:g} s" if is_fixed else "error control"
    title = f"{name}, {figures['contact_model']}, {lengths}"
    make_console().print(make_table(title, figures))
    if figures["bit_exact"]:
        failed = f"; {summary.num_failed} failed, as recorded" if summary.num_failed else ""
        print_text(f"bit-exact: {summary.num_steps} steps{failed}")


def _replay(
    steps: Replay, num_steps: int, verify: bool, messages: Messages
) -> tuple[RunSummary, Difference | None, bool]:
    """Returns the summary, the difference if there is one, and whether Ctrl-C ended the replay."""
    simulator = steps.simulator
    with (
        DeferredInterrupt() as interrupt,
        messages.show_progress(num_steps, simulator.time_step) as advance,
    ):
        summary = RunSummary(simulator.contact_model, simulator.time_step)
        for step in steps:
            if "interrupted" in step.report.status:
                return summary, None, True
            summary.add(step.report)
            advance()
            difference = step.find_difference() if verify else step.find_status_difference()
            if difference or interrupt.take():
                return summary, difference, difference is None
    return summary, None, False
