"""Colors of the viewer: the scale of pressures, and the states of contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb
from numpy.typing import NDArray

# ---- Visible parts of a scene --------------------------------------------------------------------


@dataclass
class Style:
    """The choice of things that are drawn.

    opacity: of geoms with pressure fields, in [0, 1]. A patch lies inside them.
    cut_axis: axis of the geom's frame that is normal to the cut, 0 to 2.
    cut_place: place of the cut, from -1 to 1 through the geom.
    """

    patches: bool = True
    traction: bool = False
    slip: bool = False
    points: bool = True
    forces: bool = True
    opacity: float = 0.3
    cut_geom: int | None = None
    cut_axis: int = 0
    cut_place: float = 0.0


Colors = NDArray[np.float64]  # sRGB in [0, 1], (n, 3)

# The scale of pressures, which is readable in gray and to the color-blind: 256 colors.
_SCALE = colormaps["viridis"](np.linspace(0, 1, 256))[:, :3]
_NUM_STOPS = 17  # of the scale in a legend

STICK, SLIP, FALLBACK = "#2ca02c", "#ff7f0e", "#e377c2"
TRACTION, SLIP_ARROW, FORCE = "#d62728", "#ff7f0e", "#1f77b4"


def parse_color(text: str) -> Colors:
    """Returns the sRGB values in [0, 1] of a color such as '#2ca02c', (3,)."""
    return np.array(to_rgb(text))


def to_bytes(text: str) -> tuple[int, int, int]:
    """Returns the sRGB values in 0..255 of a color such as '#2ca02c'."""
    red, green, blue = (round(255 * value) for value in parse_color(text))
    return red, green, blue


def color_pressures(pressure: NDArray[np.float64], scale: float) -> Colors:
    """Returns the colors (n, 3) of pressures (n,); those from `scale` on have the last color."""
    share = np.clip(pressure / scale, 0, 1) if scale > 0 else np.zeros(len(pressure))
    place = share * (len(_SCALE) - 1)
    first = np.minimum(place.astype(int), len(_SCALE) - 2)
    rest = (place - first)[:, None]
    return np.asarray((1 - rest) * _SCALE[first] + rest * _SCALE[first + 1])


def make_css_gradient() -> str:
    """Returns the scale of pressures as a CSS gradient from left to right."""
    stops = color_pressures(np.linspace(0, 1, _NUM_STOPS), 1.0)
    colors = (to_hex(tuple(stop)) for stop in stops)
    return f"linear-gradient(to right, {', '.join(colors)})"
