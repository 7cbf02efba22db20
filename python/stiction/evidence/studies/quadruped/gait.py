"""The timing of a trot, and the commanded velocity of the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_FORWARD_SPEED, _PITCH_SPEED = 0.05, 0.05  # [m/s]
_PITCH_LIMIT = 0.01  # [rad]
_INSTANT = 1e-9  # tolerance for the rounding error of a sum of time steps [s]


@dataclass(frozen=True)
class Gait:
    """A periodic gait.

    touchdown: phase at which each foot touches down, in [0, 1), for the feet left front, right
        front, left rear and right rear.
    duty: fraction of the period for which a foot stands, in (0, 1).
    period: [s].
    """

    touchdown: tuple[float, float, float, float] = (0.25, 0.75, 0.75, 0.25)
    duty: float = 0.75
    period: float = 0.7

    def is_stance(self, time: float) -> NDArray[np.bool_]:
        """True for each foot that stands at a time [s], (4,)."""
        return self._calc_phase(time) < self.duty

    def calc_remaining(self, time: float) -> Vector:
        """Returns the time until each foot's stance or swing ends, > 0, (4,) [s]."""
        phase = self._calc_phase(time)
        end = np.where(phase < self.duty, self.duty, 1.0)
        return self.period * (end - phase)

    def _calc_phase(self, time: float) -> Vector:
        """Returns the phase since each foot's touchdown, in [0, 1), (4,)."""
        return np.mod((time + _INSTANT) / self.period - np.array(self.touchdown), 1.0)


def calc_command(pitch: float) -> Vector:
    """Returns the commanded velocity of the body in its own frame by the published rule, (2,) [m/s].

    The forward velocity is 0.05 m/s, plus 0.05 m/s if the nose is down by more than 0.01 rad, and
    minus 0.05 m/s otherwise.

    Args:
        pitch: pitch of the body, positive if the nose is down [rad].
    """
    return np.array([_FORWARD_SPEED + (_PITCH_SPEED if pitch > _PITCH_LIMIT else -_PITCH_SPEED), 0])
