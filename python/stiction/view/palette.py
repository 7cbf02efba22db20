"""Colors of the viewer: the scale of pressures, and the states of contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Colors = NDArray[np.float64]  # sRGB in [0, 1], (n, 3)

# Colors of matplotlib's map `viridis`, which is readable in gray and to the color-blind.
_VIRIDIS = (
    "440154", "48186a", "472d7b", "424086", "3b528b", "33638d", "2c728e", "26828e", "21918c",
    "1fa088", "28ae80", "3fbc73", "5ec962", "84d44b", "addc30", "d8e219", "fde725",
)  # fmt: skip

STICK, SLIP, FALLBACK = "#2ca02c", "#ff7f0e", "#e377c2"
TRACTION, SLIP_ARROW, FORCE = "#d62728", "#ff7f0e", "#1f77b4"


def parse_color(text: str) -> Colors:
    """Returns the sRGB values in [0, 1] of a color such as '#2ca02c', (3,)."""
    digits = text.removeprefix("#")
    return np.array([int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)])


def to_bytes(text: str) -> tuple[int, int, int]:
    """Returns the sRGB values in 0..255 of a color such as '#2ca02c'."""
    red, green, blue = (round(255 * value) for value in parse_color(text))
    return red, green, blue


_ANCHORS = np.array([parse_color(color) for color in _VIRIDIS])


def color_pressures(pressure: NDArray[np.float64], scale: float) -> Colors:
    """Returns the colors of pressures, (n, 3).

    Args:
        pressure: [Pa], (n,).
        scale: the pressure that has the last color [Pa]. Larger pressures have it too.
    """
    share = np.clip(pressure / scale, 0, 1) if scale > 0 else np.zeros(len(pressure))
    place = share * (len(_ANCHORS) - 1)
    first = np.minimum(place.astype(int), len(_ANCHORS) - 2)
    rest = (place - first)[:, None]
    return np.asarray((1 - rest) * _ANCHORS[first] + rest * _ANCHORS[first + 1])


def make_css_gradient() -> str:
    """Returns the scale of pressures as a CSS gradient from left to right."""
    return f"linear-gradient(to right, {', '.join('#' + color for color in _VIRIDIS)})"
