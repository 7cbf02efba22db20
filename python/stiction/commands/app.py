"""The program `stiction` and its exit codes. Each command registers with the object `app`.

What all commands have in common is added here: the option --quiet, the message after Ctrl-C, and the exit
codes in their help.
"""

from __future__ import annotations

import enum
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer

from stiction.commands.output import set_quiet
from stiction.errors import Error


class ExitCode(enum.IntEnum):
    """The exit codes of the process."""

    OK = 0
    FAILURE = 1  # also findings of a check
    USAGE = 2  # also a name or a file that does not exist
    CERTIFICATE_FAILED = 3
    INTERRUPTED = 130  # by Ctrl-C; 128 and the number of the signal, as in shells
    HUNG_UP = 129  # by SIGHUP, as at the end of an ssh connection
    TERMINATED = 143  # by SIGTERM

    @classmethod
    def of_error(cls, error: Error) -> ExitCode:
        """Returns the code of a command that an error ended."""
        is_usage = error.code in ("file_not_found", "unknown_name")
        return cls.USAGE if is_usage else cls.FAILURE

    @classmethod
    def of_signal(cls, number: int) -> ExitCode:
        """Returns the code of a process that a signal ended."""
        return cls(128 + number)


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print errors and JSON only: no table, no warning, no progress."
    ),
]
_EXIT_CODES = "Exit codes: 0 success, 1 failure, 2 wrong usage, 130 Ctrl-C."


class App(typer.Typer):
    """A group of commands, each with --quiet and with exit codes in its help."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Returns a decorator that registers a function as a command, as typer.Typer.command does."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if "Exit codes" not in (function.__doc__ or ""):
                options.setdefault("epilog", _EXIT_CODES)
            super(App, self).command(name, **options)(_add_quiet(function))
            return function

        return register


def _add_quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function of a command with the parameter `quiet`. Ctrl-C ends it with typer.Abort."""

    @functools.wraps(function)
    def run(*arguments: Any, quiet: bool = False, **named: Any) -> Any:
        set_quiet(quiet)
        try:
            return function(*arguments, **named)
        except KeyboardInterrupt as e:  # typer would end without a word
            raise typer.Abort from e

    hints = typing.get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    own = [p.replace(annotation=hints[name]) for name, p in signature.parameters.items()]
    parameter = inspect.Parameter(
        "quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Quiet
    )
    shown = signature.replace(parameters=[*own, parameter])
    run.__signature__ = shown  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, "quiet": Quiet}
    return run


app = App(
    name="stiction",
    help="Contact simulation that a roboticist can trust, on any MuJoCo scene.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
