"""Files that commands write: checks before the work begins, pictures, and values for JSON.

Each picture carries the program's name, so that others are not replaced.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from stiction.errors import Error

IsOwn = Callable[[BinaryIO], bool]  # tells of an existing file whether it is of a kind
_HEAD = 1 << 16  # of a file, in which its kind can be seen [bytes]
SOFTWARE = "stiction"  # the text 'Software' of a PNG
_DPI = 120


def has_mark(mark: str) -> IsOwn:
    """Returns the test whether a text is near the beginning of a file."""
    return lambda file: mark.encode() in file.read(_HEAD)


def begins_with(text: str) -> IsOwn:
    """Returns the test whether a file begins with a text."""
    return lambda file: file.read(len(text.encode())) == text.encode()


def check_output(path: Path, kind: str, is_own: IsOwn) -> None:
    """Makes the folder of a file, and raises Error if the file cannot be written there.

    A file that exists is replaced only if it is of the same kind, such as 'a page of the viewer'.
    """
    try:
        if path.is_dir():
            raise Error("invalid_value", str(path), "is a folder; add the name of a file")
        if path.is_file() and not _is_replaceable(path, is_own):
            raise Error("invalid_value", str(path), f"exists and is not {kind}; give another name")
        _probe(path)
    except OSError as e:
        raise Error(
            "invalid_value",
            str(path),
            f"cannot be written: {_explain(path, e)}; choose another place",
        ) from e


def remove_output(path: Path, is_own: IsOwn) -> None:
    """Removes an older file, or raises Error. A file of another kind, a device or a pipe stays."""
    try:
        if path.is_file() and _is_replaceable(path, is_own):
            path.unlink()
    except OSError as e:
        raise Error(
            "invalid_value", str(path), f"is of an earlier run, and cannot be removed: {e.strerror}"
        ) from e


def _is_replaceable(path: Path, is_own: IsOwn) -> bool:
    """Returns True if a file is empty or of a kind. OSError: it cannot be read."""
    with path.open("rb") as file:
        return not os.fstat(file.fileno()).st_size or is_own(file)


def _probe(path: Path) -> None:
    """Raises OSError if a file cannot be written. No file is made or changed; the folder is made."""
    if path.exists() and not path.is_file():
        # The reader of a pipe would take the end of a probe for the end of the file.
        if not os.access(path, os.W_OK):
            raise PermissionError(0, "the device or pipe gives no permission")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    target = Path(os.path.realpath(path))  # unlink() would delete a link in place of the new file
    exists = target.exists()
    with target.open("ab"):
        pass
    if not exists:
        target.unlink()


def _explain(path: Path, error: OSError) -> str:
    """Returns why a file cannot be written. Of a file in place of a folder the system says too little."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        for folder in path.parents:
            if folder.exists() and not folder.is_dir():
                return f"'{folder}' is a file, not a folder"
    return error.strerror or str(error)


# ---- Conversion of values to those that JSON can express -----------------------------------------


def make_plain(value: Any) -> Any:
    """Converts values that JSON cannot express: NaN and infinity to None, keys of floats to text."""
    if isinstance(value, dict):
        return {
            f"{key:g}" if isinstance(key, float) else key: make_plain(x) for key, x in value.items()
        }
    if isinstance(value, list | tuple):
        return [make_plain(x) for x in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# The type, the key and the value of a chunk of a PNG.
_is_own_picture = has_mark(f"tEXtSoftware\0{SOFTWARE}")


def check_picture_path(path: Path) -> None:
    """Raises Error if a picture cannot be written, or would replace something else than an older one."""
    if path.suffix.lower() != ".png":
        raise Error(
            "invalid_value",
            str(path),
            f"must end in .png, because the picture is a PNG; name it '{path.stem or 'picture'}.png'",
        )
    check_output(path, "a picture of Stiction", _is_own_picture)


def write_picture(figure: Any, path: Path) -> None:
    """Writes a figure of matplotlib as a PNG. OSError: the file cannot be written."""
    figure.savefig(path, dpi=_DPI, format="png", metadata={"Software": SOFTWARE})


def remove_picture(path: Path) -> None:
    """Removes a picture that an earlier call has written, if there is one, or raises Error."""
    remove_output(path, _is_own_picture)
