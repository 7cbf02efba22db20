"""The command line. Each command is in a module of its own, commands/<name>.py."""

from __future__ import annotations

import contextlib
import enum
import os
import sys
from typing import Annotated

import mujoco
import typer
from rich.console import Console

import stiction
from stiction.errors import Error
from stiction.names import make_printable


class ExitCode(enum.IntEnum):
    """What the process returns."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    CERTIFICATE_FAILED = 3


_TYPER_INTERRUPTED = 130  # what typer returns for Ctrl-C

app = typer.Typer(
    name="stiction",
    help="Contact simulation that a roboticist can trust, on any MuJoCo scene.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"stiction {stiction.__version__}, MuJoCo {mujoco.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print versions."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; errors are one message and an exit code, never a traceback."""
    code = _run_app()
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as e:
        _fail_output(e)
        code = code or ExitCode.FAILURE
    sys.exit(code)


def _run_app() -> int:
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        code = app(standalone_mode=False)
    except typer.TyperException as e:
        e.show()  # type: ignore[attr-defined]  # all that parsing raises can
        code = e.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = _TYPER_INTERRUPTED
    except Error as e:
        err.print("error:", make_printable(str(e)), style="red", markup=False)
        code = ExitCode.FAILURE
    except ImportError as e:
        err.print("error:", str(e), style="red", markup=False)
        code = ExitCode.FAILURE
    except OSError as e:
        _fail_output(e)
        code = ExitCode.FAILURE
    if code == _TYPER_INTERRUPTED:
        err.print("interrupted")
        code = ExitCode.FAILURE
    return int(code or 0)


def _fail_output(error: OSError) -> None:
    """Files have errors of their own: what is left is standard output, full or closed."""
    if not isinstance(
        error, BrokenPipeError
    ):  # `stiction ... | head` wants no more, and no message
        where = error.filename or "standard output: cannot be written"
        message = f"error: {where}: {error.strerror or error}"
        with contextlib.suppress(OSError):
            print(make_printable(message), file=sys.stderr)
    # What is still buffered would fail again when Python ends.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# The commands register themselves on `app`.
import stiction.commands.bench  # noqa: E402
import stiction.commands.compare  # noqa: E402
import stiction.commands.explain  # noqa: E402
import stiction.commands.mesh  # noqa: E402
import stiction.commands.replay  # noqa: E402
import stiction.commands.run  # noqa: E402
import stiction.commands.study  # noqa: E402
import stiction.commands.work_precision  # noqa: E402
