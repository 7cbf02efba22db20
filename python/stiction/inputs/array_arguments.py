"""Checks arrays that callers pass to the compiled module."""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction.errors import Error

MAX_ENTRIES = 2**31 - 1  # The compiled module indexes the entries of a matrix with int.


def take_array(name: str, value: Any, ndim: int) -> np.ndarray:
    """Returns an array of `ndim` dimensions with the numbers of a value.

    Raises:
        Error: the value has another shape, entries that are not real numbers, or too many entries.
    """
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
            "unsupported",
            name,
            f"has shape {array.shape}, must have at most {MAX_ENTRIES} entries",
        )
    return array


def take_vector(name: str, value: Any) -> np.ndarray:
    """Returns a contiguous vector, see take_array."""
    return np.ascontiguousarray(take_array(name, value, 1))


def take_matrix(name: str, value: Any, shape: tuple[int, int] | None, order: str) -> np.ndarray:
    """Returns a contiguous matrix in the order "C" or "F", see take_array.

    Args:
        shape: the shape that it must have, None for any.
    """
    array = take_array(name, value, 2)
    if shape is not None and array.shape != shape:
        raise Error("wrong_shape", name, f"has shape {array.shape}, must be {shape}")
    return np.asfortranarray(array) if order == "F" else np.ascontiguousarray(array)
