"""What commands print: lines on standard error, progress, JSON."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from stiction.names import make_printable
from stiction.plain_json import make_plain


class Messages:
    """Lines on standard error."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        self.console.print("warning:", make_printable(text), style="yellow", markup=False)

    def fail(self, text: str) -> None:
        self.console.print("error:", make_printable(text), style="red", markup=False)

    @contextlib.contextmanager
    def show_warnings(self) -> Iterator[list[str]]:
        """Python's warnings become lines, once each; the list has their texts in the end."""
        texts: list[str] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield texts
            finally:  # before an error, too
                texts += dict.fromkeys(str(warning.message) for warning in caught)
                for text in texts:
                    self.warn(text)

    @contextlib.contextmanager
    def show_status(self, name: str) -> Iterator[Callable[[str], None]]:
        """A line that says what is run, on a terminal only. Call what it gives with the words."""
        if not self.console.file.isatty():
            yield lambda text: None
            return
        with self.console.status(name) as status:
            yield lambda text: status.update(f"{name}: {text}")

    @contextlib.contextmanager
    def show_progress(self, num_steps: int, time_step: float) -> Iterator[Callable[[], None]]:
        """A bar in simulated time, on a terminal only. Call what it gives after each step."""
        if not self.console.file.isatty():
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


def make_console() -> Console:
    """For tables on standard output. One that is cut or wrapped is of no use: in files and pipes
    lines are as long as they are, on a terminal of little width it wraps them.
    """
    console = Console(highlight=False)
    console.width = max(console.width, 120) if console.is_terminal else 10_000
    return console


def print_json(value: Any) -> None:
    """On standard output; numbers that JSON has not become their names."""
    print(json.dumps(make_plain(value), indent=2, allow_nan=False))
