"""`stiction doctor`: whether this installation can do its work, and how to repair what cannot."""

from __future__ import annotations

import dataclasses

from rich.table import Table
from rich.text import Text

from stiction.analysis.doctor import Diagnosis, examine
from stiction.commands import options
from stiction.commands.app import ExitCode, app
from stiction.commands.output import Messages, make_console, print_json

_STYLES = {"ok": "", "missing": "dim", "failed": "red"}


@app.command()
def doctor(as_json: options.Json = False) -> int:
    """Examine versions, MuJoCo, the processor, extras, some steps and folders, and name remedies.

    An extra that is not installed is no failure.

    Exit codes: 0 everything needed works, 1 something does not, 2 wrong usage.
    """
    found = examine()
    failed = [entry for entry in found if entry.status == "failed"]
    if as_json:
        print_json({"ok": not failed, "found": [dataclasses.asdict(entry) for entry in found]})
    else:
        make_console().print(_make_table(found))
    messages = Messages()
    for entry in failed:
        messages.fail(f"{entry.name}: {entry.text}; {entry.remedy}")
    return ExitCode.FAILURE if failed else ExitCode.OK


def _make_table(found: list[Diagnosis]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "status", "found", "remedy"):
        table.add_column(heading, overflow="fold")
    for entry in found:
        cells = (entry.name, entry.status, entry.text, entry.remedy)
        table.add_row(*(Text(cell, style=_STYLES[entry.status]) for cell in cells))
    return table
