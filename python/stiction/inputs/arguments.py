"""Checks that arguments of users have the types and ranges that the compiled module accepts."""

from __future__ import annotations

import errno
import math
import numbers
import operator
import os
import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stiction.errors import Error
from stiction.inputs.names import suggest_name

_MIN_INT, _MAX_INT = -(2**31), 2**31 - 1


def check_number(name: str, value: Any) -> float:
    """Returns a real number as float, and -0 as 0, or raises Error. NaN and infinity pass."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be a number")
    try:
        return float(value) + 0.0
    except OverflowError as e:
        raise Error("invalid_value", name, f"is {_quote(value)}, is too large") from e


def check_integer(
    name: str, value: Any, low: int = _MIN_INT, high: int = _MAX_INT, *, wanted: str = ""
) -> int:
    """Returns an integer within low and high, or raises Error with the range in the words `wanted`."""
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
    """Returns a flag, also of NumPy, as a bool. Error: a string is refused, as 'False' would be true."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise Error("invalid_value", name, f"is {value!r}, must be True or False")


def check_name(name: str, value: Any, names: tuple[str, ...] | None = None) -> str:
    """Returns a text, one of `names` if they are given, or raises Error."""
    if not isinstance(value, str):
        raise Error("wrong_shape", name, f"is {_quote(value)}, must be a text")
    if names is not None and value not in names:
        raise Error("unknown_name", name, f"there is no '{value}' {suggest_name(value, names)}")
    return value


def check_path(name: str, value: Any) -> Path:
    """Returns a path that a file may have, or raises Error. The file need not exist."""
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


def describe_type(value: Any) -> str:
    """Returns the type of a value with its article: 'an int', 'a list', 'an MjModel', or 'None'."""
    if value is None:
        return "None"
    name = type(value).__name__
    # 'MjModel' is read as 'em-jay model'.
    return f"{'an' if name[0].lower() in 'aeio' or name.startswith('Mj') else 'a'} {name}"


def check_model_type(model: Any) -> None:
    """Raises Error if the argument is not an MjModel."""
    if not isinstance(model, mujoco.MjModel):
        raise Error("wrong_shape", "model", f"is {describe_type(model)}, not a mujoco.MjModel")


def check_data_type(data: Any) -> None:
    """Raises Error if the argument is not an MjData."""
    if not isinstance(data, mujoco.MjData):
        raise Error("wrong_shape", "data", f"is {describe_type(data)}, not a mujoco.MjData")


def _quote(value: Any) -> str:
    """Returns the representation of a value, shortened for a message."""
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        text = f"a huge {type(value).__name__}"
    return _shorten(text)


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "..."


# ---- Checks arrays that callers pass to the compiled module --------------------------------------

MAX_ENTRIES = 2**31 - 1  # The compiled module indexes the entries of a matrix with int.


def take_array(name: str, value: Any, ndim: int) -> np.ndarray:
    """Returns an array of `ndim` dimensions with the real numbers of a value, or raises Error."""
    try:
        if np.ma.is_masked(value):
            raise TypeError("it has masked entries")
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"its type is {array.dtype}")
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as e:
        raise Error("wrong_shape", name, f"is not an array of real numbers: {e}") from e
    if array.ndim != ndim:
        kind = "vector" if ndim == 1 else "matrix"
        raise Error("wrong_shape", name, f"has shape {array.shape}, must be a {kind}")
    if array.size > MAX_ENTRIES:
        raise Error(
            "unsupported", name, f"has shape {array.shape}, must have at most {MAX_ENTRIES} entries"
        )
    return array


def take_vector(name: str, value: Any) -> np.ndarray:
    """Returns a contiguous vector, see take_array."""
    return np.ascontiguousarray(take_array(name, value, 1))


def take_matrix(name: str, value: Any, shape: tuple[int, int] | None, order: str) -> np.ndarray:
    """Returns a contiguous matrix in the order "C" or "F", of a shape or any; see take_array."""
    array = take_array(name, value, 2)
    if shape is not None and array.shape != shape:
        raise Error("wrong_shape", name, f"has shape {array.shape}, must be {shape}")
    return np.asfortranarray(array) if order == "F" else np.ascontiguousarray(array)


# ---- Times with units, such as '2ms', in seconds -------------------------------------------------

_SECONDS = {
    "": 1.0,
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}


def parse_seconds(text: str) -> float:
    """Returns the seconds of '0.002', '2ms', '5 s' or '1min'; ValueError has a message for users."""
    match = re.fullmatch(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([a-zA-Zµ]*)\s*", text)
    try:
        seconds = float(match[1]) * _SECONDS[match[2]] if match else math.nan
    except (ValueError, KeyError):
        seconds = math.nan
    if math.isnan(seconds):
        units = ", ".join(unit for unit in _SECONDS if unit)
        raise ValueError(
            f"'{text}' is not a time; write a number of seconds, or one with a unit ({units})"
        )
    if not 0 < seconds < math.inf:
        raise ValueError(f"'{text}' is not a finite time above 0")
    return seconds
