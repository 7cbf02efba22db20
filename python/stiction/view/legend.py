"""The legend of the page: what colors, arrows and marks mean."""

from __future__ import annotations

import math
from collections.abc import Mapping

from stiction.view.arrows import ARROW_KINDS, ArrowCount
from stiction.view.palette import FALLBACK, SLIP, STICK, make_css_gradient

# ---- The pressure that has the last color --------------------------------------------------------


class PressureScale:
    """The scale of the colors of pressures, for all scenes of a page.

    Unless it is fixed, it grows with the pressures that it has seen, and never shrinks.
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


def _round_up(value: float) -> float:
    """Returns the next of 1, 1.5, 2, 3, 5, 7, 10, ... times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (1, 1.5, 2, 3, 5, 7, 10, 15) if m * power >= value * (1 - 1e-12))


_STYLE = "font:12px/1.5 sans-serif;padding:4px 14px"


def make_legend(
    *, pressure: float | None = None, cut: float | None = None, with_points: bool = False
) -> str:
    """Returns the legend as HTML, with the last colors' pressures [Pa] of patches and the cut."""
    parts = []
    if pressure is not None:
        parts.append(_make_scale("contact pressure [Pa]", pressure))
    if cut is not None:
        parts.append(_make_scale("pressure of the field in the cut [Pa]", cut))
    if with_points:
        states = (("sticks", STICK), ("slips", SLIP), ("fell back from a patch", FALLBACK))
        keys = (_make_key("&#9679;", text, color) for text, color in states)
        parts.append(f"<div>contact points: {' '.join(keys)}</div>")
    return f"<div class='stiction-legend' style='{_STYLE}'>{''.join(parts)}</div>"


def make_arrow_legend(counts: Mapping[str, ArrowCount], *, at_most: bool = False) -> str:
    """Returns the legend of arrows as HTML: their meaning, number, now or at most, and the largest."""
    parts = []
    for name, count in counts.items():
        kind, most = ARROW_KINDS[name], "at most " if at_most else ""
        number = f"{most}{count.drawn} of {count.total} drawn"
        text = f"{number}, the longest is {format_si(count.largest)}{kind.unit}"
        key = _make_key("&#10142;", kind.meaning, kind.color)
        parts.append(f"<div>{key}: {text if count.total else 'none'}</div>")
    return f"<div class='stiction-arrows' style='{_STYLE}'>{''.join(parts)}</div>" if parts else ""


def format_pressure(pressure: float) -> str:
    """Returns a pressure with at most three digits and a prefix, such as '12.5k'."""
    return format_si(pressure).replace(" ", "")


def format_si(value: float) -> str:
    """Returns a value with at most three digits and a prefix before its unit, such as '12.5 k'."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}"
    return f"{value:.3g} "


def _make_scale(title: str, top: float) -> str:
    """Returns the scale of colors from 0 to a pressure [Pa]."""
    ticks = "".join(f"<span>{format_pressure(share * top)}</span>" for share in (0, 0.5, 1))
    return (
        f"<div>{title}</div>"
        f"<div style='height:12px;border-radius:2px;background:{make_css_gradient()}'></div>"
        f"<div style='display:flex;justify-content:space-between'>{ticks}</div>"
    )


def _make_key(mark: str, text: str, color: str) -> str:
    return (
        f"<span style='white-space:nowrap'><span style='color:{color}'>{mark}</span> {text}</span>"
    )
