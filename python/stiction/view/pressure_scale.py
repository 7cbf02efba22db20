"""The pressure that has the last color, and the legend that shows it."""

from __future__ import annotations

import math

from stiction.view.palette import FALLBACK, SLIP, STICK, make_css_gradient


class PressureScale:
    """The scale of the colors of pressures, for all scenes of a page.

    Unless it is fixed, it grows with the pressures that it has seen, and never shrinks. So one color
    means one pressure for as long as the legend does not change.
    """

    def __init__(self, fixed: float | None = None) -> None:
        self.fixed = fixed
        self._largest = 0.0

    @property
    def top(self) -> float:
        """The pressure that has the last color [Pa]."""
        return self.fixed or _round_up(self._largest)

    @property
    def is_known(self) -> bool:
        """True if the scale is fixed, or has seen a pressure."""
        return self.fixed is not None or self._largest > 0

    def include(self, pressure: float) -> None:
        """Makes the scale reach a pressure [Pa]."""
        if math.isfinite(pressure):
            self._largest = max(self._largest, pressure)

    def forget(self) -> None:
        """Starts again, as after a change of the scene's stiffness."""
        self._largest = 0.0


def make_legend(top: float, *, with_patches: bool, with_points: bool) -> str:
    """Returns the legend as HTML.

    Args:
        top: pressure that has the last color [Pa].
        with_patches: whether to explain the colors of patches.
        with_points: whether to explain the colors of contact points.
    """
    parts = []
    if with_patches:
        ticks = "".join(f"<span>{format_pressure(share * top)}</span>" for share in (0, 0.5, 1))
        parts.append(
            "<div>contact pressure [Pa]</div>"
            f"<div style='height:12px;border-radius:2px;background:{make_css_gradient()}'></div>"
            f"<div style='display:flex;justify-content:space-between'>{ticks}</div>"
        )
    if with_points:
        states = (("sticks", STICK), ("slips", SLIP), ("fell back from a patch", FALLBACK))
        parts.append("contact points: " + " ".join(_make_key(*state) for state in states))
    style = "font:12px/1.5 sans-serif;padding:4px 14px"
    return f"<div class='stiction-legend' style='{style}'>{''.join(parts)}</div>"


def format_pressure(pressure: float) -> str:
    """Returns a pressure with at most three digits and a prefix, such as '12.5k'."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if pressure >= factor:
            return f"{pressure / factor:.3g}{prefix}"
    return f"{pressure:.3g}"


def _make_key(text: str, color: str) -> str:
    return (
        f"<span style='white-space:nowrap'><span style='color:{color}'>&#9679;</span> {text}</span>"
    )


def _round_up(value: float) -> float:
    """Returns the next of 1, 1.5, 2, 3, 5, 7, 10, ... times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (1, 1.5, 2, 3, 5, 7, 10, 15) if m * power >= value * (1 - 1e-12))
