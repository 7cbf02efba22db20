"""Conversion of values to those that JSON can express."""

from __future__ import annotations

import math
from typing import Any


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
