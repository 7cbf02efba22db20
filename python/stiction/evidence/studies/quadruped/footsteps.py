"""Planned positions of the feet of a trot: splines in the base frame, planned as phases begin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# ---- The timing of a trot, and the commanded velocity of the body --------------------------------

Vector = NDArray[np.float64]

_FORWARD_SPEED, _PITCH_SPEED = 0.05, 0.05  # [m/s]
_PITCH_LIMIT = 0.01  # [rad]
_INSTANT = 1e-9  # tolerance for the rounding error of a sum of time steps [s]


@dataclass(frozen=True)
class Gait:
    """A periodic gait."""

    # Phase at which each foot touches down, in [0, 1), for the feet left front, right front, left
    # rear and right rear.
    touchdown: tuple[float, float, float, float] = (0.25, 0.75, 0.75, 0.25)
    duty: float = 0.75  # fraction of the period for which a foot stands, in (0, 1)
    period: float = 0.7  # [s]

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
    """Returns the published command of velocity, (2,) [m/s]: faster if the nose is down (pitch > 0)."""
    return np.array([_FORWARD_SPEED + (_PITCH_SPEED if pitch > _PITCH_LIMIT else -_PITCH_SPEED), 0])


# ---- The path of a foot through a few points: a cubic spline with given end velocities -----------


class FootSpline:
    """A C2 spline through points at equal times, (n, 3) [m], with the same velocity at both
    ends, (3,). The published controller sets the end velocities by extra knots a thousandth of
    an interval from the ends. This spline is the limit in which this distance goes to zero."""

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


STEP_HEIGHT = 0.015  # [m]
# Factor from the error of the body's velocity to the correction of a step: sqrt(l / g) of an
# inverted pendulum with the published length [s].
_CATCH_TIME = math.sqrt(0.30 / 9.81)


class Footsteps:
    """Plans the motion of the four feet, with swings about their initial positions, (4, 3) [m]."""

    def __init__(self, gait: Gait, origin: Vector) -> None:
        self._gait, self._origin = gait, origin.copy()
        self._is_stance: list[bool | None] = [None] * 4
        rest = np.zeros(3)
        self._splines = [FootSpline(0, 1, np.stack([x, x]), rest) for x in self._origin]

    def calc_motion(self, time: float, command: Vector, velocity: Vector) -> tuple[Vector, Vector]:
        """Returns planned positions and velocities of the feet, (4, 3) each. It plans the splines
        of the phases that begin at this time, from the commanded and the actual velocity of the
        body, (2,)."""
        is_stance, remaining = self._gait.is_stance(time), self._gait.calc_remaining(time)
        for foot, stands in enumerate(is_stance):
            if stands == self._is_stance[foot]:
                continue
            self._is_stance[foot] = bool(stands)
            last, duration = self._splines[foot], float(remaining[foot])
            x = last.end_point
            if stands:
                points = _plan_stance(x, -command * duration / 2 / self._gait.duty)
            else:
                step = command * duration / 2 / (1 - self._gait.duty)
                step = step - (command - velocity) / 2 * _CATCH_TIME
                points = _plan_swing(x, self._origin[foot] + np.append(step, 0))
            self._splines[foot] = FootSpline(time, duration, points, last.end_velocity)
        motions = [spline.calc_motion(time) for spline in self._splines]
        return np.array([x for x, _ in motions]), np.array([v for _, v in motions])


def _plan_swing(start: Vector, end: Vector) -> Vector:
    """Returns the points of a swing: up, across and down, in equal times."""
    lift = np.array([0, 0, STEP_HEIGHT])
    return np.stack([start, start + lift, end + lift, end])


def _plan_stance(start: Vector, step: Vector) -> Vector:
    """Returns the points of a stance: back along an arc about the origin of the base."""
    end = start + np.append(step, 0)
    radii = np.linalg.norm(start), np.linalg.norm(end)
    direction = start / radii[0] + end / radii[1]
    middle = direction / np.linalg.norm(direction) * np.mean(radii)
    return np.stack([start, middle, end])
