"""The path of a foot through a few points: a cubic spline with given end velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class FootSpline:
    """A C2 spline through points at equal time intervals, with the same velocity at both ends.

    The published controller sets the end velocities by extra knots a thousandth of an interval from
    the ends. This spline is the limit in which this distance goes to zero.

    Args:
        start: time of the first point [s].
        duration: time from the first to the last point, > 0 [s].
        points: at least two points, (n, 3) [m].
        velocity: velocity at both ends, (3,) [m/s].

    Attributes:
        end_point: position at the end, (3,) [m].
        end_velocity: velocity at the end, (3,) [m/s].
    """

    def __init__(self, start: float, duration: float, points: Vector, velocity: Vector) -> None:
        self._start, self._end = start, start + duration
        self._interval = h = duration / (len(points) - 1)
        self.end_point, self.end_velocity = points[-1], velocity
        # The second derivatives M at the points follow from continuous slopes and given end slopes.
        slopes = np.vstack([velocity, np.diff(points, axis=0) / h, velocity])
        count = len(points)
        A = 4 * np.eye(count) + np.eye(count, k=1) + np.eye(count, k=-1)
        A[0, 0] = A[-1, -1] = 2
        M = np.linalg.solve(A, 6 / h * np.diff(slopes, axis=0))
        # Coefficients of the powers of the fraction s of an interval, (num_intervals, 4, 3).
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
        """Returns position [m] and velocity [m/s], (3,) each. They are constant after the end."""
        elapsed = (min(max(time, self._start), self._end) - self._start) / self._interval
        i = min(int(elapsed), len(self._powers) - 1)
        s = elapsed - i
        powers = self._powers[i]
        x: Vector = np.array([1, s, s**2, s**3]) @ powers
        v: Vector = np.array([0, 1, 2 * s, 3 * s**2]) @ powers / self._interval
        return x, v
