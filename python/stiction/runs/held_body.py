"""The held body that a scene declares, its slip, and the hold in which a run follows it.

<custom><text name="stiction_held" data="cube"/></custom>
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction import ContactReport, StepReport
from stiction.errors import Error
from stiction.inputs.custom_text import HELD, find_text
from stiction.inputs.names import suggest_name
from stiction.runs.controls import ControlsName
from stiction.runs.run import Step
from stiction.scene import Scene

# The first part of the hold, or of a run without a hold, is not judged: transients decay in it.
_TRANSIENT_OF_HOLD = 0.25
_TRANSIENT_OF_RUN = 0.5


@dataclass(frozen=True)
class HeldBody:
    """A body and its subtree `bodies`, (n,), with a weight [N] along a unit vector `down`, (3,)."""

    name: str
    body: int
    bodies: NDArray[np.intp]
    down: NDArray[np.float64]
    load: float

    def find_contacts(self, contacts: ContactReport) -> NDArray[np.intp]:
        """Returns the indices of the contacts between these bodies and others, (n,)."""
        inside = np.isin(contacts.bodies, self.bodies)
        return np.flatnonzero(inside[:, 0] != inside[:, 1])

    def find_signs(self, contacts: ContactReport) -> NDArray[np.float64]:
        """Returns 1 for each contact of find_contacts that has these bodies second, else -1, (n,)."""
        second = contacts.bodies[self.find_contacts(contacts), 1]
        return np.where(np.isin(second, self.bodies), 1.0, -1.0)

    def find_holders(self, contacts: ContactReport) -> NDArray[np.intp]:
        """Returns the ids of the other bodies that touch these bodies, (n,)."""
        touching = contacts.bodies[self.find_contacts(contacts)]
        return np.unique(touching[~np.isin(touching, self.bodies)])

    def is_gripped(self, contacts: ContactReport, model: mujoco.MjModel) -> bool:
        """True if a body that is not fixed to the world touches these bodies."""
        return bool(model.body_weldid[self.find_holders(contacts)].any())

    def find_fixed(self, contacts: ContactReport, model: mujoco.MjModel) -> NDArray[np.bool_]:
        """Returns which contacts of find_contacts are with bodies that are fixed to the world, (n,)."""
        bodies = contacts.bodies[self.find_contacts(contacts)]
        others = np.where(np.isin(bodies[:, 1], self.bodies), bodies[:, 0], bodies[:, 1])
        return np.asarray((model.body_weldid[others] == 0) & (model.body_mocapid[others] < 0))


class Slip:
    """Slip of a held body along gravity, and its turn, relative to the bodies that hold it at the start.

    The slip is the motion of the body's center of mass in the frame of each holder, averaged over
    the holders. Translation and rotation of the whole grasp therefore do not count as slip. So is the
    turn, the rotation of the body since the start.
    """

    def __init__(self, held: HeldBody, holders: NDArray[np.intp], data: mujoco.MjData) -> None:
        self._held, self._holders = held, holders
        self._down_H = [data.xmat[h].reshape(3, 3).T @ held.down for h in holders]
        self._rotations = [self._calc_rotation(h, data) for h in holders]
        self._start = 0.0
        self._start = self.calc(data)

    def calc(self, data: mujoco.MjData) -> float:
        """Returns the slip since the start at the poses in data [m]; positive is down."""
        x = data.xipos[self._held.body]
        slips = [
            down_H @ (data.xmat[h].reshape(3, 3).T @ (x - data.xpos[h]))
            for h, down_H in zip(self._holders, self._down_H, strict=True)
        ]
        return float(np.mean(slips)) - self._start

    def calc_turn(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """Returns the rotation vector since the start at the poses in data, in the world [rad], (3,)."""
        turns = np.zeros((len(self._holders), 3))
        for turn, h, start in zip(turns, self._holders, self._rotations, strict=True):
            quat = np.zeros(4)
            mujoco.mju_mat2Quat(quat, (self._calc_rotation(h, data) @ start.T).ravel())
            mujoco.mju_quat2Vel(turn, quat, 1)
            turn[:] = data.xmat[h].reshape(3, 3) @ turn
        return np.asarray(turns.mean(axis=0))

    def _calc_rotation(self, holder: int, data: mujoco.MjData) -> NDArray[np.float64]:
        """Returns the rotation from the body's frame to that of a holder, (3, 3)."""
        own = data.xmat[self._held.body].reshape(3, 3)
        return np.asarray(data.xmat[holder].reshape(3, 3).T @ own)


def find_held_body(scene: Scene) -> HeldBody | None:
    """Returns the held body that the scene declares, or None. Error: the body is wrong."""
    model = scene.model
    name = find_text(model, scene.path, HELD)
    if name is None:
        return None
    return make_held_body(scene, name.strip(), f"{scene.path}: <text name='{HELD}'>")


def make_held_body(scene: Scene, name: str, where: str) -> HeldBody:
    """Returns the held body of a name. Error, at `where`: it does not exist or cannot fall."""
    model = scene.model
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    if body < 0:
        known = [model.body(i).name for i in range(1, model.nbody)]
        raise Error("unknown_name", where, f"there is no body '{name}' {suggest_name(name, known)}")
    if model.body_weldid[body] == 0:
        raise Error(
            "invalid_value", where, f"body '{name}' is fixed to the world; name one that moves"
        )
    gravity = float(np.linalg.norm(model.opt.gravity))
    if not gravity > 0:
        raise Error(
            "invalid_value",
            where,
            "needs gravity to load the grip, but gravity is 0; set <option gravity>",
        )
    bodies = [body]
    for child in range(body + 1, model.nbody):  # parents come before their children
        if model.body_parentid[child] in bodies:
            bodies.append(child)
    load = gravity * float(model.body_subtreemass[body])
    return HeldBody(name, body, np.array(bodies), model.opt.gravity / gravity, load)


def find_hold_start(scene: Scene, controls: ControlsName) -> float:
    """Returns the time from which the controls of a run are constant, or at which it starts [s]."""
    schedule = scene.control_schedule
    if schedule and controls == ControlsName.schedule:
        return schedule.hold_start
    return float(scene.make_data().time)


def find_judged_start(start: float, end: float, held: HeldBody | None, hold_start: float) -> float:
    """Returns the time from which the steps of a run from start to end are judged [s]."""
    if held is not None and hold_start < end:
        return hold_start + _TRANSIENT_OF_HOLD * (end - hold_start)
    return start + _TRANSIENT_OF_RUN * (end - start)


class Hold:
    """Follows a held body through a run: the grip before the hold at `start`, and the slip during it.

    has_begun: True if a step has begun in the hold, whose start may be a rounding off such a time.
    times, slips, turns: of all steps: their starts [s], the results of follow [m], and turns [rad], (3,).
    """

    def __init__(self, held: HeldBody, start: float) -> None:
        self._held, self._start = held, start
        self._slip: Slip | None = None
        self._was_gripped = False  # before the hold
        self.has_begun = False
        self.dropped_at: float | None = None
        self.report: StepReport | None = None
        self.times: list[float] = []
        self.slips: list[float] = []
        self.turns: list[NDArray[np.float64]] = []

    def follow(self, step: Step) -> float:
        """Returns the slip in the hold [m], or NaN. Poses after a step belong to its start."""
        self.times.append(step.time)
        self.slips.append(self._calc_slip(step.time, step.report, step.data))
        is_known = self._slip is not None and math.isfinite(self.slips[-1])
        turn = self._slip.calc_turn(step.data) if self._slip and is_known else np.full(3, np.nan)
        self.turns.append(turn)
        return self.slips[-1]

    def find_judged(self, begin: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns times [s] and slips [m] of the steps from a time [s] on in which a slip is known."""
        times, slips = np.array(self.times), np.array(self.slips)
        judged = (times >= begin) & np.isfinite(slips)
        return times[judged], slips[judged]

    def calc_turning(self, begin: float) -> NDArray[np.float64] | None:
        """Returns the mean velocity of turning from a time [s] on [rad/s], (3,); None if unknown."""
        times, turns = np.array(self.times), np.array(self.turns).reshape(-1, 3)
        judged = (times >= begin) & np.isfinite(np.array(self.slips))
        if np.count_nonzero(judged) < 2:
            return None
        slopes = np.polyfit(times[judged] - times[judged].mean(), turns[judged], 1)
        return np.asarray(slopes[0])

    def calc_creep(self, begin: float) -> float | None:
        """Returns the mean slip speed from a time [s] on [m/s]; None with less than two slips."""
        times, slips = self.find_judged(begin)
        return float(np.polyfit(times - times.mean(), slips, 1)[0]) if len(times) > 1 else None

    def _calc_slip(self, time: float, report: StepReport, data: mujoco.MjData) -> float:
        if self.dropped_at is not None:
            return math.nan
        if time < self._start - 1e-9:
            self._was_gripped |= self._held.is_gripped(report.contacts, data.model)
            return math.nan
        self.has_begun = True
        is_new = self._slip is None
        if is_new and self._was_gripped and not self._held.is_gripped(report.contacts, data.model):
            self.dropped_at = time
            return math.nan
        if self._slip is None:
            holders = self._held.find_holders(report.contacts)
            self._slip = Slip(self._held, holders, data) if len(holders) else None
        if self._slip is None:
            return math.nan
        slip = self._slip.calc(data)
        if len(self._held.find_contacts(report.contacts)):
            self.report = report
        elif self.report:
            self.dropped_at = time
            self.report = None
        return slip
