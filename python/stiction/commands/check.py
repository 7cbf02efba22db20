"""`stiction check`: faults of a scene, found without a run, or of a recording, without a solver."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from stiction.analysis.checks.subject import Finding, Subject
from stiction.analysis.checks.table import CHECKS, check_scene
from stiction.analysis.verify.table import describe_failure, print_verification
from stiction.analysis.verify.verification import verify_recording
from stiction.commands.app import ExitCode, app
from stiction.commands.options import ContactModel, Json, Properties, Settings, TimeStep
from stiction.commands.output import Messages, make_console, print_json
from stiction.recording.reader import is_mcap_file
from stiction.recording.recording import Recording
from stiction.scene import load_scene
from stiction.setup.options import DEFAULTS
from stiction.tables.text_table import make_text_table

_Speed = Annotated[
    float,
    typer.Option(
        min=0,
        help="The largest speed of bodies in m/s, at least that of the start. A fall from 5 cm ends "
        "with 1 m/s.",
    ),
]


# The arguments that belong to scenes.
_OF_SCENES = ("contact_model", "time_step", "properties", "speed", "settings")


@app.command()
def check(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="MJCF or URDF file, the name of a scene of the package, or a recording.",
            metavar="SCENE|RECORDING",
        ),
    ],
    contact_model: ContactModel = DEFAULTS["contact_model"],
    time_step: TimeStep = None,
    properties: Properties = None,
    speed: _Speed = 1,
    settings: Settings = None,
    every: Annotated[
        int, typer.Option(min=1, help="Verify each n-th step of a recording; 1 for all.")
    ] = 1,
    as_json: Json = False,
) -> int:
    """Find what a contact model will get wrong on a scene, or verify a recording without a solver.

    Of a scene, the command finds thin bodies, mass ratios, limits and equalities that give, settings
    without an effect, overlaps, patches with one face and contacts that lose their friction, without
    a run. Of a recording
    (.mcap), it computes the balance of momentum, the laws of contact and the energy of each step anew
    from the recorded states and impulses, with nothing of the solver that made them.

    Exit codes: 0 nothing found; 1 findings, or a file that is faulty; 2 wrong usage, or a file that
    does not exist.
    """
    if _is_recording(file):
        return _check_recording(context, file, every, as_json)
    subject = Subject(
        load_scene(file, properties),
        speed,
        contact_model=contact_model,
        time_step=time_step,
        **dict(settings or ()),
    )
    return _check_scene(file, subject, as_json)


def _is_recording(file: Path) -> bool:
    return file.suffix == ".mcap" or (file.is_file() and is_mcap_file(file))


def _check_recording(context: typer.Context, file: Path, every: int, as_json: bool) -> ExitCode:
    for name in _OF_SCENES:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--set" if name == "settings" else f"--{name.replace('_', '-')}"
            raise typer.BadParameter(
                "is for scenes; a recording has its own settings", param_hint=option
            )
    result = verify_recording(Recording(file), every)
    if as_json:
        print_json(result.figures())
    else:
        print_verification(result, make_console())
    messages = Messages()
    for name, found in result.checks.items():
        if found.num_failed:
            messages.fail(describe_failure(name, found))
    if result.damage:
        messages.fail(f"{file}: {result.damage}")
    return ExitCode.OK if result.ok else ExitCode.FAILURE


def _check_scene(file: Path, subject: Subject, as_json: bool) -> ExitCode:
    findings = check_scene(subject)
    if as_json:
        print_json(
            {
                "scene": str(file),
                "contact_model": subject.contact_model,
                "time_step": subject.simulator.time_step,
                "checks": [entry.name for entry in CHECKS if entry.covers(subject)],
                "findings": [dataclasses.asdict(finding) for finding in findings],
            }
        )
    else:
        _print_table(subject, findings)
    return ExitCode.FAILURE if findings else ExitCode.OK


def _print_table(subject: Subject, findings: list[Finding]) -> None:
    rows, styles = [], []
    for entry in CHECKS:
        found = [finding for finding in findings if finding.check == entry.name]
        for finding in found:
            rows.append((finding.check, finding.message))
            styles.append("yellow")
        if not found:
            known = entry.covers(subject)
            text = (
                entry.describe_success(subject)
                if known
                else f"unknown under '{subject.contact_model}'"
            )
            rows.append((entry.name, text))
            styles.append("dim")
    console = make_console()
    console.print(
        f"{subject.scene.path} under {subject.contact_model} at {subject.simulator.time_step:g} s"
    )
    console.print(make_text_table(("check", "finding"), rows, styles=styles))
