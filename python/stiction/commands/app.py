"""The program `stiction` and its exit codes. Each command registers with the object `app`."""

from __future__ import annotations

import enum

import typer


class ExitCode(enum.IntEnum):
    """The exit codes of the process."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    CERTIFICATE_FAILED = 3
    INTERRUPTED = 130  # by Ctrl-C; 128 and the number of the signal, as in shells
    HUNG_UP = 129  # by SIGHUP, as at the end of an ssh connection
    TERMINATED = 143  # by SIGTERM

    @classmethod
    def of_signal(cls, number: int) -> ExitCode:
        """Returns the code of a process that a signal ended."""
        return cls(128 + number)


app = typer.Typer(
    name="stiction",
    help="Contact simulation that a roboticist can trust, on any MuJoCo scene.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
