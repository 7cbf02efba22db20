"""A trot in time: when each foot stands, and how fast the body is told to go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_FORWARD_SPEED, _PITCH_SPEED = 0.05, 0.05  # [m/s]
_PITCH_LIMIT = 0.01  # [rad]
_INSTANT = 1e-9  # forgives the rounding of a sum of time steps [s]


@dataclass(frozen=True)
class Gait:
    """touchdown: phase of each foot, left front, right front, left rear, right rear, in [0, 1).
    duty: share of the period for which a foot stands, in (0, 1). period: [s].
    """

    touchdown: tuple[float, float, float, float] = (0.25, 0.75, 0.75, 0.25)
    duty: float = 0.75
    period: float = 0.7

    def is_stance(self, time: float) -> NDArray[np.bool_]:
        """Of each foot, (4,)."""
        return self._calc_phase(time) < self.duty

    def calc_remaining(self, time: float) -> Vector:
        """Until each foot's stance or swing ends [s], (4,), > 0."""
        phase = self._calc_phase(time)
        end = np.where(phase < self.duty, self.duty, 1.0)
        return self.period * (end - phase)

    def _calc_phase(self, time: float) -> Vector:
        """Since each foot's touchdown, in [0, 1)."""
        return np.mod((time + _INSTANT) / self.period - np.array(self.touchdown), 1.0)


def calc_command(pitch: float) -> Vector:
    """Velocity that the body is told to have, in its own frame [m/s], (2,): the published rule, which
    adds 0.05 m/s to 0.05 m/s ahead where the nose is down by more than 0.01 rad, and else takes it away.
    """
    return np.array([_FORWARD_SPEED + (_PITCH_SPEED if pitch > _PITCH_LIMIT else -_PITCH_SPEED), 0])
