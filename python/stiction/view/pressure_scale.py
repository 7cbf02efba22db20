"""The pressure that has the last color."""

from __future__ import annotations

import math


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


def _round_up(value: float) -> float:
    """Returns the next of 1, 1.5, 2, 3, 5, 7, 10, ... times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (1, 1.5, 2, 3, 5, 7, 10, 15) if m * power >= value * (1 - 1e-12))
