"""`stiction study`: repeats the figures of papers, or runs experiments of our own, and checks them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from stiction.commands.app import ExitCode, app
from stiction.commands.options import Json, make_models_option
from stiction.commands.output import Messages, make_console, print_json, print_text
from stiction.commands.parsing import check_name, complete
from stiction.evidence.studies.checks import Check, format_value
from stiction.evidence.studies.study import (
    STUDIES,
    Settings,
    describe_result,
    load_study,
    write_result,
)
from stiction.inputs.names import find_compliant_models
from stiction.tables.text_table import make_text_table

# Optional results of other simulators that studies are compared with, in a folder beside the
# repository.
_SHARED_PEERS = Path("../shared/reference")

_Out = Annotated[
    Path | None,
    typer.Option(
        file_okay=False,
        metavar="DIR",
        help="Folder for NAME.json and the plots; default: out/study_NAME.",
    ),
]
_Peers = Annotated[
    Path | None,
    typer.Option(
        envvar="STICTION_STUDY_PEERS",
        exists=True,
        file_okay=False,
        help="Folder with results of other simulators to compare with.",
    ),
]


@app.command("study")
def study_command(
    name: Annotated[
        str,
        typer.Argument(
            callback=check_name("study", STUDIES),
            autocompletion=complete(list(STUDIES)),
            metavar="NAME",
            help=f"{', '.join(STUDIES)}.",
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Take fewer, larger steps and make fewer, equally strict checks."
        ),
    ] = False,
    contact_model: Annotated[
        list[str] | None,
        make_models_option("all compliant models, or those of the study's own list"),
    ] = None,
    as_json: Json = False,
    out: _Out = None,
    peers: _Peers = None,
) -> int:
    """Repeat the figures of a paper, or measure what no paper has, and check the findings.

    The papers are Castro et al. (2023), Masterjohn et al. (2022), Genot and Brogliato (1999) and
    Drumwright (2015). A study runs under the contact
    models that it is about, or under those given, and writes its results and plots.

    Exit codes: 0 success, 1 a check failed, 2 wrong usage.
    """
    messages = Messages()
    study = load_study(name)
    begin = time.process_time()
    with messages.show_warnings(), messages.show_status(name) as tell:
        settings = Settings(
            quick,
            # Most studies measure compliant contact.
            tuple(contact_model or study.contact_models or find_compliant_models()),
            peers or (_SHARED_PEERS if _SHARED_PEERS.is_dir() else None),
            tell,
        )
        result = study.run(settings)
    folder = out or Path("out") / f"study_{name}"
    description = describe_result(study, settings, result)
    description["cpu_seconds"] = time.process_time() - begin
    path = write_result(description, result, folder)
    if as_json:
        print_json(description)
    else:
        make_console().print(_make_check_table(study.title, result.checks))
        for note in result.notes:
            messages.warn(note)
        pages = "".join(f", {folder / name}.html" for name in result.pages)
        print_text(
            f"{path}{pages}, {len(result.plots)} plots; {description['cpu_seconds']:.1f} s of CPU"
        )
    failed = [check.name for check in result.checks if not check.passed]
    for each in failed:
        messages.fail(f"check failed: {each}")
    return ExitCode.FAILURE if failed else ExitCode.OK


def _make_check_table(title: str, checks: list[Check]) -> Table:
    rows = [(_describe_outcome(c), c.name, format_value(c), c.wanted, c.source) for c in checks]
    styles = ["" if c.passed else "red" for c in checks]
    headings = ("", "check", "value", "required", "source")
    return make_text_table(headings, rows, "llr", title=title, styles=styles, no_wrap=True)


def _describe_outcome(check: Check) -> str:
    if not check.passed:
        return "FAIL"
    return "miss" if check.is_known_miss else "ok"
