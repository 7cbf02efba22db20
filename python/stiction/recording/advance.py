"""The record of a call of Simulator.advance, by which a replay repeats it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stiction._core import StepReport

# The arguments of the call, and what the report says of it. A `max_time_step` of infinity is None.
ADVANCE_DTYPE = np.dtype(
    [
        ("until", "<f8"),
        ("accuracy", "<f8"),
        ("max_time_step", "<f8"),
        ("first_step", "<f8"),
        ("first_error", "<f8"),
        ("duration", "<f8"),
        ("smallest_step", "<f8"),
        ("largest_step", "<f8"),
        ("next_step", "<f8"),
        ("last_error", "<f8"),
        ("sum_of_errors", "<f8"),
        ("largest_error", "<f8"),
        ("num_steps", "<i4"),
        ("num_rejected", "<i4"),
        ("num_failed", "<i4"),
        ("num_not_extrapolated", "<i4"),
        ("num_inaccurate", "<i4"),
        ("extrapolate", "u1"),
    ]
)


def pack_advance(report: StepReport, max_time_step: float | None, extrapolate: bool) -> bytes:
    """Returns the record of a call that gave a report."""
    record = np.zeros(1, ADVANCE_DTYPE)
    for name in ADVANCE_DTYPE.names or ():
        if hasattr(report.advance, name):
            record[name] = getattr(report.advance, name)
    record["max_time_step"] = math.inf if max_time_step is None else max_time_step
    record["extrapolate"] = extrapolate
    record["duration"] = report.time_step if report.num_steps else 0.0
    return record.tobytes()


def unpack_advance(data: bytes) -> dict[str, Any]:
    """Returns the fields of a record by name.

    Raises:
        ValueError: the data is not one record.
    """
    if len(data) != ADVANCE_DTYPE.itemsize:
        raise ValueError(f"the record has {len(data)} bytes, expected {ADVANCE_DTYPE.itemsize}")
    record = np.frombuffer(data, ADVANCE_DTYPE)[0]
    return {name: record[name].item() for name in ADVANCE_DTYPE.names or ()}


def make_arguments(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of Simulator.advance, besides data, that repeat a recorded call."""
    longest = record["max_time_step"]
    return {
        "until": record["until"],
        "accuracy": record["accuracy"],
        "max_time_step": longest if math.isfinite(longest) else None,
        "first_step": record["first_step"],
        "last_error": record["first_error"],
        "extrapolate": bool(record["extrapolate"]),
    }
