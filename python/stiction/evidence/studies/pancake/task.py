"""The task: keyframes of the spatula, and phases that end when a measured force says so. Each
phase is a generator that yields one command per step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stiction.evidence.studies.pancake.robot import Command, Pose, Robot, interpolate, make_rotation
from stiction.evidence.studies.pancake.scene import (
    BLADE_HALF_WIDTH,
    HANDLE_ANGLE,
    HANDLE_MIDDLE,
    Vector,
)

GRIP_FORCE = 20.0  # force of each bubble [N]
LIFT = 0.10  # height by which the spatula is lifted from the stand [m]

_GRASPED = 0.95  # fraction of the grip force at which the grasp is complete
_TOUCH = 0.5  # loss of weight at which the blade counts as touching the stove [N]
_DESCENT = 0.03  # speed of the descent to the stove [m/s]
_ABOVE = 0.05  # height above the stove at which a descent begins [m]
_BEHIND = 0.15  # distance behind the pancake's center at which the blade is set down [m]
_SCOOP = 0.147  # distance of the scooping motion [m]
_SCOOP_TIME = 1.2  # [s]
_DIP = math.radians(3)  # angle of the blade while it scoops, tip down [rad]
_PRESS = 0.001  # depth by which the tip is pressed on the stove while it scoops [m]
_TILT = math.radians(8)  # angle of the blade while it carries the pancake, tip up [rad]
_TURN = math.radians(125)  # rotation about the blade's edge; the pancake then falls over [rad]
_RAISE = 0.07  # height by which the blade raises the pancake [m]
_ASIDE = 0.05  # offset of the blade's edge along y from the stove's center for the turn [m]
_BACK = 0.06  # offset of the blade along x for the turn, which keeps the gripper off the stove [m]
_CLEAR = 0.002  # height of the edge above the stove when the turn begins [m]
_RISE = 0.025  # height by which the edge rises during the turn [m]

_c, _s = math.cos(HANDLE_ANGLE), math.sin(HANDLE_ANGLE)
# Pose of the grasp site in the spatula's frame: z points along the handle to the blade, and y
# across the fingers.
X_SG = Pose(np.array([[-_s, 0, _c], [0, 1, 0], [-_c, 0, -_s]]), HANDLE_MIDDLE)


class TaskError(Exception):
    """A force that a phase waits for was not reached."""


@dataclass
class Task:
    """Generates the commands of the task."""

    robot: Robot  # robot whose forces are read
    time_step: float  # [s]
    spatula: Pose  # initial pose X_WS of the spatula
    pancake: Vector  # initial position of the pancake's center, (3,) [m]
    phase: str = "wait"  # name of the current phase
    _grip: float | None = None

    def grab(self) -> Iterator[Command]:
        """Grasps the spatula by its handle and lifts it from the stand."""
        self._pose = self.robot.start
        self.phase = "reach"
        yield from self._move(self.spatula @ X_SG, 1.5)
        self.phase = "grasp"
        yield from self._grasp()
        self.phase = "lift"
        yield from self._move_spatula(_shift(self.spatula, z=LIFT), 1.5)
        yield from self._hold(0.2)

    def flip(self) -> Iterator[Command]:
        """Slides the held spatula below the pancake, lifts it, turns it over, and moves away."""
        nose_down = make_rotation((0, 1, 0), _DIP)
        ahead = Pose(nose_down, self.pancake + np.array([-_BEHIND, 0, _ABOVE]))
        self.phase = "carry"
        yield from self._move_spatula(ahead, 3.5)
        self.phase = "lower"
        yield from self._lower(2 * _ABOVE)
        self.phase = "scoop"
        yield from self._move_spatula(_shift(self._spatula, z=-_PRESS), 0.2)
        yield from self._move_spatula(_shift(self._spatula, x=_SCOOP), _SCOOP_TIME)
        self.phase = "raise"
        tip_up = make_rotation((0, 1, 0), -_TILT)
        yield from self._move_spatula(Pose(tip_up, _shift(self._spatula, z=_RAISE).p), 1.5)
        self.phase = "set down"
        aside = self.pancake + np.array([-_BACK, _ASIDE + BLADE_HALF_WIDTH, _ABOVE])
        yield from self._move_spatula(Pose(np.eye(3), aside), 2.0)
        yield from self._lower(2 * _ABOVE)
        self.phase = "turn"
        yield from self._move_spatula(_shift(self._spatula, z=_CLEAR), 0.3)
        yield from self._turn_about_edge(4.0)
        self.phase = "leave"
        yield from self._move_spatula(_shift(self._spatula, y=0.08, z=0.08), 1.5)
        away = _shift(self._spatula, x=-0.05, z=0.05).p
        yield from self._move_spatula(Pose(np.eye(3), away), 2.5)
        yield from self._hold(0.5)

    @property
    def _spatula(self) -> Pose:
        """The commanded pose X_WS of the spatula."""
        return self._pose @ X_SG.inverse()

    def _command(self, pose: Pose) -> Command:
        self._pose = pose
        return Command(pose, self._grip)

    def _move(self, last: Pose, duration: float) -> Iterator[Command]:
        """Moves the grasp site to a pose X_WG in a time [s]."""
        first = self._pose
        for share in self._shares(duration):
            yield self._command(interpolate(first, last, share))

    def _move_spatula(self, last: Pose, duration: float) -> Iterator[Command]:
        """Moves the held spatula to a pose X_WS in a time [s]."""
        first = self._spatula
        for share in self._shares(duration):
            yield self._command(interpolate(first, last, share) @ X_SG)

    def _turn_about_edge(self, duration: float) -> Iterator[Command]:
        """Turns the spatula about its right edge, which rises meanwhile."""
        first = self._spatula
        edge = np.array([0, -BLADE_HALF_WIDTH, 0])
        for share in self._shares(duration):
            R = first.R @ make_rotation((1, 0, 0), share * _TURN)
            p = first.p + first.R @ edge - R @ edge + np.array([0, 0, share * _RISE])
            yield self._command(Pose(R, p) @ X_SG)

    def _hold(self, duration: float) -> Iterator[Command]:
        """Holds the pose for a time [s]."""
        for _ in range(round(duration / self.time_step)):
            yield self._command(self._pose)

    def _grasp(self) -> Iterator[Command]:
        """Closes the fingers until the grip force is reached. Raises TaskError after 4 s."""
        self._grip = GRIP_FORCE
        for _ in range(round(4.0 / self.time_step)):
            if self.robot.grip_force > _GRASPED * GRIP_FORCE:
                break
            yield self._command(self._pose)
        else:
            raise TaskError(f"the grip is {self.robot.grip_force:.2f} N after 4 s")
        yield from self._hold(0.3)

    def _lower(self, depth: float) -> Iterator[Command]:
        """Moves down until the stove carries part of the weight. Raises TaskError below `depth` [m]."""
        free = self.robot.handle_force[2]
        first = self._pose
        num_steps = round(depth / (_DESCENT * self.time_step))
        for i in range(num_steps):
            if self.robot.handle_force[2] < free - _TOUCH:
                return
            yield self._command(Pose(first.R, first.p - np.array([0, 0, i / num_steps * depth])))
        raise TaskError(f"the blade did not touch the stove within {depth} m")

    def _shares(self, duration: float) -> Iterator[float]:
        """Yields a smooth rise from 0 (excluded) to 1, with zero velocity at both ends."""
        num_steps = round(duration / self.time_step)
        for i in range(1, num_steps + 1):
            t = i / num_steps
            yield t**3 * (10 - 15 * t + 6 * t**2)


def _shift(X: Pose, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(X.R, X.p + np.array([x, y, z]))
