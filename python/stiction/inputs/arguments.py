"""Checks that arguments of users have the types and ranges that the compiled module accepts."""

from __future__ import annotations

import errno
import numbers
import operator
import os
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stiction.errors import Error
from stiction.inputs.suggestions import suggest_name

_MIN_INT, _MAX_INT = -(2**31), 2**31 - 1


def check_number(name: str, value: Any) -> float:
    """Returns a real number as float, and -0 as 0, which messages write without a sign.

    NaN and infinity pass, because ranges are checked elsewhere.

    Args:
        name: name of the argument, for messages.
        value: the argument.

    Raises:
        Error: the value is not a number, or is too large for a float.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be a number")
    try:
        return float(value) + 0.0
    except OverflowError as e:
        raise Error("invalid_value", name, f"is {_quote(value)}, is too large") from e


def check_integer(
    name: str, value: Any, low: int = _MIN_INT, high: int = _MAX_INT, *, wanted: str = ""
) -> int:
    """Returns a value as an integer within low and high.

    Args:
        name: name of the argument, for messages.
        value: the argument.
        low, high: the range.
        wanted: the range in words; the default is 'in LOW..HIGH'.

    Raises:
        Error: the value is not an integer, or is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be an integer")
    number = operator.index(value)
    if not low <= number <= high:
        wanted = wanted or f"in {low}..{high}"
        if number > high and wanted.startswith("at least"):
            wanted += f", and at most {high}"
        raise Error("invalid_value", name, f"is {_quote(value)}, must be {wanted}")
    return number


def check_flag(name: str, value: Any) -> bool:
    """Returns a flag as a bool. The flags of NumPy are accepted too.

    Raises:
        Error: the value is not a flag. A string is refused, because 'False' would count as true.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise Error("invalid_value", name, f"is {value!r}, must be True or False")


def check_name(name: str, value: Any, names: tuple[str, ...] | None = None) -> str:
    """Returns a text. If `names` are given, the text must be one of them.

    Raises:
        Error: the value is not a text, or not one of the names.
    """
    if not isinstance(value, str):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be a text")
    if names is not None and value not in names:
        raise Error("unknown_name", name, f"there is no '{value}' {suggest_name(value, names)}")
    return value


def check_path(name: str, value: Any) -> Path:
    """Returns a path that a file may have. The file need not exist.

    Args:
        name: name of the argument, for messages.
        value: str or os.PathLike of str, which must be valid UTF-8.

    Raises:
        Error: the value is not a path, or no file can have this path.
    """
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be a path (str or Path)")
    path = Path(text)
    try:
        text.encode()
        path.stat()
    except UnicodeEncodeError as e:
        raise Error("invalid_value", _shorten(ascii(text)), "is not UTF-8; rename the file") from e
    except ValueError as e:
        raise Error(
            "invalid_value", _shorten(ascii(text)), "contains a zero character; remove it"
        ) from e
    except OSError as e:
        if e.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            reason = (e.strerror or str(e)).lower()
            raise Error("invalid_value", _shorten(text), f"cannot be opened: {reason}") from e
    return path


def check_model_type(model: Any) -> None:
    """Raises Error if the argument is not an MjModel."""
    if not isinstance(model, mujoco.MjModel):
        raise Error("wrong_shape", "model", f"is a {type(model).__name__}, not a mujoco.MjModel")


def check_data_type(data: Any) -> None:
    """Raises Error if the argument is not an MjData."""
    if not isinstance(data, mujoco.MjData):
        raise Error("wrong_shape", "data", f"is a {type(data).__name__}, not a mujoco.MjData")


def _quote(value: Any) -> str:
    """Returns the representation of a value, shortened for a message."""
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        text = f"a huge {type(value).__name__}"
    return _shorten(text)


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "..."
