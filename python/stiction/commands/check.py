"""`stiction check`: what a contact model will get wrong on a scene, found without a run."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from stiction.checks.subject import Finding, Subject
from stiction.checks.table import CHECKS, check_scene
from stiction.commands import options
from stiction.commands.app import ExitCode, app
from stiction.commands.output import Messages, make_console, print_json
from stiction.errors import Error
from stiction.names import make_printable
from stiction.options import DEFAULTS
from stiction.scene import load_scene

_Speed = Annotated[
    float,
    typer.Option(
        min=0, help="The largest speed of bodies in m/s. A fall from 5 cm ends with 1 m/s."
    ),
]


@app.command()
def check(
    scene: options.SceneFile,
    contact_model: options.ContactModel = DEFAULTS["contact_model"],
    time_step: options.TimeStep = None,
    properties: options.Properties = None,
    speed: _Speed = 1,
    settings: options.Settings = None,
    as_json: options.Json = False,
) -> None:
    """Find what a contact model will get wrong on a scene, without a run.

    Exit codes: 0 nothing found, 1 findings, 2 wrong usage or a scene that cannot be used.
    """
    try:
        arguments = dict(settings or ())
        subject = Subject(
            load_scene(scene, properties),
            speed,
            contact_model=contact_model,
            time_step=time_step,
            **arguments,
        )
        findings = check_scene(subject)
    except Error as e:
        Messages().fail(str(e))
        if as_json:
            print_json({"error": {"code": e.code, "where": e.where, "message": e.message}})
        raise typer.Exit(ExitCode.USAGE) from e
    if as_json:
        print_json(
            {
                "scene": str(scene),
                "contact_model": subject.contact_model,
                "time_step": subject.simulator.time_step,
                "checks": [entry.name for entry in CHECKS if entry.covers(subject)],
                "findings": [dataclasses.asdict(finding) for finding in findings],
            }
        )
    else:
        _print_table(subject, findings)
    raise typer.Exit(ExitCode.FAILURE if findings else ExitCode.OK)


def _print_table(subject: Subject, findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("check")
    table.add_column("finding")
    for entry in CHECKS:
        found = [finding for finding in findings if finding.check == entry.name]
        for finding in found:
            message = Text(make_printable(finding.message), style="yellow")
            table.add_row(Text(finding.check), message)
        if not found:
            known = entry.covers(subject)
            text = entry.otherwise if known else f"unknown under '{subject.contact_model}'"
            table.add_row(Text(entry.name, style="dim"), Text(text, style="dim"))
    console = make_console()
    console.print(
        f"{subject.scene.path} under {subject.contact_model} at {subject.simulator.time_step:g} s",
        markup=False,
    )
    console.print(table)
