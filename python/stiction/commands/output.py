"""The output of commands: messages and progress on standard error, texts and JSON on standard output."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from stiction.binding.interrupts import AfterStep, DeferredInterrupt
from stiction.errors import StepWarning
from stiction.inputs.names import make_printable
from stiction.tables.output_files import make_plain
from stiction.tables.text_table import make_text

_is_quiet = False  # of the command that runs; a process runs one


def set_quiet(quiet: bool) -> None:
    """Sets whether only errors and JSON are printed, by the option --quiet of each command."""
    global _is_quiet
    _is_quiet = quiet


class PlainConsole(Console):
    """A console that prints all texts as `make_text` makes them."""

    def render_str(self, text: str, **options: Any) -> Text:
        made = make_text(text, options.get("style", ""))
        made.justify, made.overflow = options.get("justify"), options.get("overflow")
        return made


class Messages:
    """Messages on standard error. With --quiet only errors are shown."""

    def __init__(self) -> None:
        self.console = PlainConsole(stderr=True, highlight=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """Prints a warning, unless only errors are shown."""
        if _is_quiet:
            return
        self.console.print("warning:", text, style="yellow")

    def fail(self, text: str) -> None:
        """Prints an error."""
        self.console.print("error:", text, style="red")

    @contextlib.contextmanager
    def show_warnings(self) -> Iterator[list[str]]:
        """Collects Python's warnings in the list that it yields, and prints each text once at the end."""
        texts: list[str] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # A summary of the run counts these.
            warnings.simplefilter("ignore", StepWarning)
            try:
                yield texts
            finally:  # an error follows its warnings
                texts += dict.fromkeys(str(warning.message) for warning in caught)
                for text in texts:
                    self.warn(text)

    @contextlib.contextmanager
    def show_status(self, name: str) -> Iterator[Callable[[str], None]]:
        """A context that shows a status line on a terminal. It yields a function that sets its text."""
        if _is_quiet or not self.console.file.isatty():
            yield lambda text: None
            return
        with self.console.status(make_text(name)) as status:
            yield lambda text: status.update(make_text(f"{name}: {text}"))

    def announce(self, text: str) -> None:
        """Prints on a terminal what begins now. A status line would take time from a measurement."""
        if not _is_quiet and self.console.file.isatty():
            self.console.print(text, style="dim")

    @contextlib.contextmanager
    def show_progress(self, num_steps: int, time_step: float) -> Iterator[Callable[[], None]]:
        """Shows simulated time on a terminal; yields a function to call after each step."""
        if _is_quiet or not self.console.file.isatty():
            yield lambda: None
            return
        columns = (
            BarColumn(),
            TextColumn("{task.completed:.2f} of {task.total:.2f} s"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as progress:
            task = progress.add_task("", total=num_steps * time_step)
            yield lambda: progress.advance(task, time_step)

    @contextlib.contextmanager
    def show_runs(self, num_steps: int, time_step: float) -> Iterator[AfterStep]:
        """Shows warnings and progress, and defers Ctrl-C; yields a function to call after each step."""
        with (
            self.show_warnings(),
            DeferredInterrupt() as interrupt,
            self.show_progress(num_steps, time_step) as advance,
        ):

            def after_step() -> bool:
                advance()
                return interrupt.take()

            yield after_step


def make_console() -> Console:
    """Returns a console for tables, which are not cut; with --quiet it prints nothing."""
    console = PlainConsole(highlight=False, quiet=_is_quiet)
    console.width = max(console.width, 120) if console.is_terminal else 10_000
    return console


def print_text(text: str) -> None:
    """Prints a line on standard output, unless --quiet is given."""
    if not _is_quiet:
        print(make_printable(text))


def print_json(value: Any) -> None:
    """Prints a value as JSON on standard output, with null for NaN and infinity."""
    print(json.dumps(make_plain(value), indent=2, allow_nan=False))
