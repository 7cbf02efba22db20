"""Planned positions of the feet of a trot: splines in the base frame, planned as phases begin."""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.studies.quadruped.foot_spline import FootSpline
from stiction.evidence.studies.quadruped.gait import Gait, Vector

STEP_HEIGHT = 0.015  # [m]
# Factor from the error of the body's velocity to the correction of a step: sqrt(l / g) of an
# inverted pendulum with the published length [s].
_CATCH_TIME = math.sqrt(0.30 / 9.81)


class Footsteps:
    """Plans the motion of the four feet.

    Args:
        gait: the gait.
        origin: initial positions of the feet, from which swings are measured, (4, 3) [m].
    """

    def __init__(self, gait: Gait, origin: Vector) -> None:
        self._gait, self._origin = gait, origin.copy()
        self._is_stance: list[bool | None] = [None] * 4
        rest = np.zeros(3)
        self._splines = [FootSpline(0, 1, np.stack([x, x]), rest) for x in self._origin]

    def calc_motion(self, time: float, command: Vector, velocity: Vector) -> tuple[Vector, Vector]:
        """Returns planned positions [m] and velocities [m/s] of the feet, (4, 3) each.

        It plans the splines of the phases that begin at this time.

        Args:
            time: time, not before that of the last call [s].
            command: commanded velocity of the body, (2,) [m/s].
            velocity: velocity of the body, (2,) [m/s].
        """
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
