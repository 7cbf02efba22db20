"""The command line. Each command is in a module of its own, commands/<name>.py."""

from __future__ import annotations

import enum
import sys

import click
import typer
from rich.console import Console

from stiction.errors import Error


class ExitCode(enum.IntEnum):
    """What the process returns."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    CERTIFICATE_FAILED = 3


app = typer.Typer(
    name="stiction",
    help="Contact simulation that a roboticist can trust, on any MuJoCo scene.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Runs the command line; errors are one message and an exit code, never a traceback."""
    err = Console(stderr=True, highlight=False)
    try:
        code = app(standalone_mode=False)
    except click.UsageError as e:
        e.show()
        code = ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        err.print("interrupted")
        code = ExitCode.FAILURE
    except Error as e:
        err.print("error:", str(e), style="red", markup=False)
        code = ExitCode.FAILURE
    sys.exit(int(code or 0))
