"""The command line. Each module in commands/ registers its command when it is imported."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from typing import Annotated, Any

import mujoco
import typer

import stiction
import stiction.commands.bench
import stiction.commands.check
import stiction.commands.compare
import stiction.commands.contacts
import stiction.commands.converge
import stiction.commands.convert
import stiction.commands.doctor
import stiction.commands.explain
import stiction.commands.grasp
import stiction.commands.mesh
import stiction.commands.replay
import stiction.commands.run
import stiction.commands.scorecard
import stiction.commands.study
import stiction.commands.sweep
import stiction.commands.view
import stiction.commands.work_precision
from stiction.binding.interrupts import find_termination, interrupt_on_termination
from stiction.commands.app import ExitCode, app
from stiction.commands.output import PlainConsole, print_json
from stiction.errors import Error, StepWarning
from stiction.inputs.names import make_printable
from stiction.setup.defaults import builtin_defaults


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
    """Runs the command line. An error gives one message and an exit code, never a traceback."""
    interrupt_on_termination()
    code = _run_app()
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as e:
        _fail_output(e)
        code = code or ExitCode.FAILURE
    sys.exit(code)


def _run_app() -> int:
    err = PlainConsole(stderr=True, highlight=False, soft_wrap=True)
    try:
        with warnings.catch_warnings(), builtin_defaults():
            # Commands count the warnings of steps and show them in their summaries.
            warnings.simplefilter("ignore", StepWarning)
            code = app(prog_name="stiction", standalone_mode=False)
    except typer.TyperException as e:
        code = _report_usage(e, err)
    except (typer.Abort, KeyboardInterrupt):
        with contextlib.suppress(OSError):  # the terminal is closed
            err.print("error:", "terminated" if find_termination() else "interrupted", style="red")
        code = ExitCode.INTERRUPTED
    except Error as e:
        err.print("error:", str(e), style="red")
        _print_json_error(e.code, e.where, e.message)
        code = ExitCode.of_error(e)
    except ImportError as e:
        err.print("error:", str(e), style="red")
        _print_json_error("unsupported", e.name or "", str(e))
        code = ExitCode.FAILURE
    except OSError as e:
        _fail_output(e)
        # After SIGHUP the terminal is closed, and cannot be written.
        code = ExitCode.INTERRUPTED if find_termination() else ExitCode.FAILURE
    if code == ExitCode.INTERRUPTED and (number := find_termination()):
        code = ExitCode.of_signal(number)
    return int(code or 0)


def _report_usage(error: Any, err: PlainConsole) -> int:
    """Prints what the parser found, or the help of `stiction` alone, and returns the exit code."""
    if "NoArgs" in type(error).__name__:
        error.show()
        return int(error.exit_code)
    where, message = "", " ".join(error.format_message().split())
    if given := re.match(r"Invalid value for (.+?): (.*)", message):
        where, message = given[1].replace("'", ""), given[2]
    message = f"{message[:1].lower()}{message[1:].removesuffix('.')}"
    # The parser takes an empty path for the current folder.
    message = re.sub(r"^(file|directory|path) '' .*", r"the name of the \1 is empty", message)
    context = getattr(error, "ctx", None)
    if context is not None and not message.endswith("?"):
        message += f"; {context.command_path} --help lists what it takes"
    text = f"{where}: {message}" if where else message
    err.print("error:", text, style="red")
    _print_json_error("usage", where, message)
    return int(error.exit_code)


def _print_json_error(code: str, where: str, message: str) -> None:
    """Prints an error as JSON if the command has --json. Its arguments may not have been parsed."""
    if "--json" in sys.argv:
        print_json({"error": {"code": code, "where": where, "message": message}})


def _fail_output(error: OSError) -> None:
    """Reports that standard output cannot be written, because its disk is full or it is closed."""
    # A broken pipe needs no message: the reader, as in `stiction ... | head`, has stopped reading.
    if not isinstance(error, BrokenPipeError):
        where = error.filename or "standard output: cannot be written"
        reason = error.strerror or str(error)
        with contextlib.suppress(OSError):
            print(make_printable(f"error: {where}: {reason}"), file=sys.stderr)
            if error.filename:  # standard output itself works
                _print_json_error("invalid_value", str(where), reason)
    # Python flushes standard output when it ends; the buffered text would fail again there.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
