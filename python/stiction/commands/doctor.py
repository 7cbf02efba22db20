"""`stiction doctor`: whether this installation can do its work, and how to repair what cannot."""

from __future__ import annotations

import dataclasses

from stiction.analysis.doctor import examine
from stiction.commands.app import ExitCode, app
from stiction.commands.options import Json
from stiction.commands.output import Messages, make_console, print_json
from stiction.tables.text_table import make_text_table

_WIDTH = 120  # of the table, also in a pipe
_STYLES = {"ok": "", "missing": "dim", "failed": "red"}


@app.command()
def doctor(as_json: Json = False) -> int:
    """Examine versions, MuJoCo, the processor, extras, some steps and folders, and name remedies.

    An extra that is not installed is no failure.

    Exit codes: 0 everything needed works, 1 something does not, 2 wrong usage.
    """
    found = examine()
    failed = [entry for entry in found if entry.status == "failed"]
    if as_json:
        print_json({"ok": not failed, "found": [dataclasses.asdict(entry) for entry in found]})
    else:
        rows = [(each.name, each.status, each.text, each.remedy) for each in found]
        styles = [_STYLES[each.status] for each in found]
        headings = ("", "status", "found", "remedy")
        console = make_console()
        console.width = min(console.width, _WIDTH)  # its texts are sentences, and may be broken
        console.print(make_text_table(headings, rows, styles=styles, overflow="fold"))
    messages = Messages()
    for entry in failed:
        messages.fail(f"{entry.name}: {entry.text}; {entry.remedy}")
    return ExitCode.FAILURE if failed else ExitCode.OK
