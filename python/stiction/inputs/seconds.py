"""Times with units, such as '2ms', in seconds."""

from __future__ import annotations

import math
import re

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
    """Returns the seconds of a time such as '0.002', '2ms', '5 s' or '1min'.

    Raises:
        ValueError: the text is not a time, or the time is not finite and above 0; the message is
            fit for users.
    """
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
