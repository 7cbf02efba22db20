"""The journal of a sweep: a file to which each finished unit adds a line."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from stiction.errors import Error
from stiction.sweep.plan import Unit
from stiction.sweep.table import Row

NAME = "rows.jsonl"
LOCK = "sweep.lock"


def read_journal(folder: Path) -> dict[str, Row]:
    """Returns the results of finished units by key. Of several lines of a unit the last one counts.

    A line that a kill has cut is ignored, and its unit runs again.
    """
    path = folder / NAME
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}
    except OSError as e:
        raise Error("file_not_found", str(path), f"cannot be read: {e.strerror or e}") from e
    return dict(_parse(lines))


def _parse(lines: list[bytes]) -> Iterator[tuple[str, Row]]:
    for line in lines:
        try:
            entry: dict[str, Any] = json.loads(line)
            yield entry["key"], entry["results"]
        except (ValueError, KeyError, TypeError):
            continue


def _lock(folder: Path) -> sqlite3.Connection:
    """Returns a lock of a folder, or raises Error; SQLite has locks on all systems.

    It is free again when it is closed, or when its process ends. The file stays; it is empty.
    """
    path = folder / LOCK
    lock = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as e:
        lock.close()
        raise Error(
            "unsupported",
            str(folder),
            f"is in use by another sweep ({path}: {e}), which would run the same units; wait for its "
            "end, or choose another folder with --out",
        ) from e
    return lock


class Journal:
    """Adds lines to the journal in a folder, which one process has at a time, or raises Error.

    A line is on the disk when `add` returns, so neither a kill nor a loss of power takes it back.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(folder)
            self._file = self._path.open("ab", buffering=0)
            self._close_cut_line()
        except OSError as e:
            raise self._make_error(e) from e

    def add(self, unit: Unit, results: Row) -> None:
        """Adds a finished unit. Error: the file cannot be written."""
        entry = {"key": unit.key, "inputs": unit.inputs(), "results": results}
        try:
            self._write(json.dumps(entry).encode() + b"\n")
            os.fsync(self._file.fileno())
        except OSError as e:
            raise self._make_error(e) from e

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.close()

    def _close_cut_line(self) -> None:
        """Ends a line that a kill has cut, so that the next one does not continue it."""
        if self._path.stat().st_size == 0:
            return
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                self._write(b"\n")

    def _write(self, text: bytes) -> None:
        while text:  # a disk that becomes full takes a part, and refuses the rest
            text = text[self._file.write(text) :]

    def _make_error(self, error: OSError) -> Error:
        return Error(
            "invalid_value",
            str(self._path),
            f"cannot be written: {error.strerror or error}; make room or choose another folder with "
            "--out. The lines in it are kept, and the next sweep goes on after them",
        )
