"""The program `stiction` and its exit codes. Each command registers with the object `app`.

App adds to each command the option --quiet, the message after Ctrl-C, the exit codes in its help, and the
options of its groups; see options.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from stiction.commands.help_texts import make_help
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
            own_name = name or function.__name__.replace("_", "-")
            options.setdefault("help", make_help(own_name, function.__doc__))
            super(App, self).command(name, **options)(_adapt(function))
            return function

        return register


def _adapt(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function for typer: with `quiet`, and the fields of groups in place of the groups."""
    hints = typing.get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {
        n: hint for n, hint in hints.items() if dataclasses.is_dataclass(hint)
    }
    shown = dict(_list_parameters(function, hints))

    @functools.wraps(function)
    def run(*, quiet: bool = False, **named: Any) -> Any:
        set_quiet(quiet)
        for name, group in groups.items():
            named[name] = group(**{f.name: named.pop(f.name) for f in dataclasses.fields(group)})
        try:
            return function(**named)
        except KeyboardInterrupt as e:  # typer would end without a word
            raise typer.Abort from e

    run.__signature__ = inspect.Signature(list(shown.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in shown.items()}
    return run


def _list_parameters(
    function: Callable[..., Any], hints: dict[str, Any]
) -> Iterator[tuple[str, inspect.Parameter]]:
    """Yields the names and parameters that typer sees, all of them by keyword."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        if not dataclasses.is_dataclass(hint):
            yield name, parameter.replace(annotation=hint, kind=keyword)
            continue
        types = typing.get_type_hints(hint, include_extras=True)
        for f in dataclasses.fields(hint):
            yield (
                f.name,
                inspect.Parameter(f.name, keyword, default=f.default, annotation=types[f.name]),
            )
    yield "quiet", inspect.Parameter("quiet", keyword, default=False, annotation=Quiet)


app = App(
    name="stiction",
    help="Contact simulation that a roboticist can trust, on any MuJoCo scene.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
