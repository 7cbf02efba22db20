"""Checks of what users pass: the right types, in ranges that the compiled module takes."""

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

_MIN_INT, _MAX_INT = -(2**31), 2**31 - 1


def check_number(name: str, value: Any) -> float:
    """A real number as float; NaN and infinity too, whose range is checked elsewhere.

    Raises:
        Error: it is none, with its name.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be a number")
    try:
        return float(value)
    except OverflowError as e:
        raise Error("invalid_value", name, f"is {_quote(value)}, is too large") from e


def check_integer(
    name: str, value: Any, low: int = _MIN_INT, high: int = _MAX_INT, *, wanted: str = ""
) -> int:
    """Returns a value as an integer within low and high.

    Args:
        wanted: the range in words; by default 'in LOW..HIGH'.

    Raises:
        Error: the value is not an integer, or is out of range; the message has its name.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be an integer")
    number = operator.index(value)
    if not low <= number <= high:
        wanted = wanted or f"in {low}..{high}"
        raise Error("invalid_value", name, f"is {_quote(value)}, must be {wanted}")
    return number


def check_flag(name: str, value: Any) -> bool:
    """True or False, NumPy's as well.

    Raises:
        Error: another value, such as a string, whose truth would surprise.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise Error("invalid_value", name, f"is {value!r}, must be True or False")


def check_name(name: str, value: Any, names: tuple[str, ...] | None = None) -> str:
    """A text, one of `names` where they are given.

    Raises:
        Error: it is none, with its name.
    """
    if not isinstance(value, str):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be a text")
    if names is not None and value not in names:
        raise Error("unknown_name", name, f"is '{value}', must be one of {', '.join(names)}")
    return value


def check_path(name: str, value: Any) -> Path:
    """A path that the file system can be asked about; whether there is a file is checked elsewhere.

    Args:
        name: of the argument.
        value: str or os.PathLike of str, in UTF-8, as MJCF and recordings are.

    Raises:
        Error: it is no path, or one that no file can have; with its name.
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
        raise Error("invalid_value", _shorten(ascii(text)), "has a zero character in it") from e
    except OSError as e:
        if e.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            reason = (e.strerror or str(e)).lower()
            raise Error("invalid_value", _shorten(text), f"cannot be opened: {reason}") from e
    return path


def check_model_type(model: Any) -> None:
    """Raises Error if it is no MjModel."""
    if not isinstance(model, mujoco.MjModel):
        raise Error("wrong_shape", "model", f"is a {type(model).__name__}, not a mujoco.MjModel")


def check_data_type(data: Any) -> None:
    """Raises Error if it is no MjData."""
    if not isinstance(data, mujoco.MjData):
        raise Error("wrong_shape", "data", f"is a {type(data).__name__}, not a mujoco.MjData")


def _quote(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        text = f"a huge {type(value).__name__}"
    return _shorten(text)


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "..."
