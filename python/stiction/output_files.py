"""Checks files that a command will write, before its work begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stiction.errors import Error

_HEAD = 1 << 16  # of a file, in which its kind can be seen [bytes]


def check_output(path: Path, kind: str, is_own: Callable[[bytes], bool]) -> None:
    """Makes the folder of a file, and checks that the file can be written there.

    A file that exists is replaced only if it is of the same kind, so that a wrong name costs no work of
    the user.

    Args:
        path: path of the file.
        kind: what is written, such as 'a page of the viewer'.
        is_own: tells of the first bytes of an existing file whether it is of this kind.

    Raises:
        Error: the path is a folder, cannot be written, or is a file of another kind.
    """
    if path.is_dir():
        raise Error("invalid_value", str(path), "is a folder; add the name of a file")
    exists = path.exists()
    try:
        if path.is_file():  # writing to a device or pipe replaces nothing
            with path.open("rb") as file:
                head = file.read(_HEAD)
            if head and not is_own(head):
                raise Error(
                    "invalid_value", str(path), f"exists and is not {kind}; give another name"
                )
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if not exists:
            path.unlink()
    except OSError as e:
        reason = e.strerror or str(e)
        raise Error(
            "invalid_value", str(path), f"cannot be written: {reason}; choose another place"
        ) from e
