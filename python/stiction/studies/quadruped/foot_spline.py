"""A foot's way through a few points: a cubic spline with given velocities at both ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class FootSpline:
    """C2 through points at equal times, with the same velocity at both ends.

    The published controller reaches that velocity by knots a thousandth of an interval from the ends,
    in the limit of which this one is.

    Args:
        start: [s]. duration: > 0 [s].
        points: (at least 2, 3) [m].
        velocity: at both ends [m/s], (3,).

    end_point, end_velocity: of the end [m], [m/s], (3,).
    """

    def __init__(self, start: float, duration: float, points: Vector, velocity: Vector) -> None:
        self._start, self._end = start, start + duration
        self._interval = h = duration / (len(points) - 1)
        self.end_point, self.end_velocity = points[-1], velocity
        # Slopes are continuous and at the ends given: equations for the second derivatives.
        slopes = np.vstack([velocity, np.diff(points, axis=0) / h, velocity])
        count = len(points)
        A = 4 * np.eye(count) + np.eye(count, k=1) + np.eye(count, k=-1)
        A[0, 0] = A[-1, -1] = 2
        M = np.linalg.solve(A, 6 / h * np.diff(slopes, axis=0))
        # In powers of the share of an interval, (intervals, 4, 3).
        self._powers: Vector = np.stack(
            [
                points[:-1],
                np.diff(points, axis=0) - h**2 / 6 * (2 * M[:-1] + M[1:]),
                h**2 / 2 * M[:-1],
                h**2 / 6 * np.diff(M, axis=0),
            ],
            axis=1,
        )

    def calc_motion(self, time: float) -> tuple[Vector, Vector]:
        """Position [m] and velocity [m/s], (3,) each; after the end those of the end."""
        elapsed = (min(max(time, self._start), self._end) - self._start) / self._interval
        i = min(int(elapsed), len(self._powers) - 1)
        s = elapsed - i
        powers = self._powers[i]
        x: Vector = np.array([1, s, s**2, s**3]) @ powers
        v: Vector = np.array([0, 1, 2 * s, 3 * s**2]) @ powers / self._interval
        return x, v
