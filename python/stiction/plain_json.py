"""Values as JSON has them."""

from __future__ import annotations

import math
from typing import Any


def make_plain(value: Any) -> Any:
    """Numbers that JSON has not become their names; numbers as keys, such as time steps, their text."""
    if isinstance(value, dict):
        return {
            f"{key:g}" if isinstance(key, float) else key: make_plain(x) for key, x in value.items()
        }
    if isinstance(value, list | tuple):
        return [make_plain(x) for x in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
