"""A run that holds a body: when the hold begins, which steps are judged, and how far the body slips."""

from __future__ import annotations

import math

import mujoco

from stiction import StepReport
from stiction.runs.controls import ControlsName
from stiction.runs.held_body import HeldBody, Slip
from stiction.scene import Scene

# The first part of the hold, or of a run without a hold, is not judged: transients decay in it.
_TRANSIENT_OF_HOLD = 0.25
_TRANSIENT_OF_RUN = 0.5


def find_hold_start(scene: Scene, controls: ControlsName) -> float:
    """Returns the time from which the controls of a run are constant [s].

    Without a schedule of controls, this is the time at which the run starts.
    """
    schedule = scene.control_schedule
    if schedule and controls == ControlsName.schedule:
        return schedule.hold_start
    return float(scene.make_data().time)


def find_judged_start(start: float, end: float, held: HeldBody | None, hold_start: float) -> float:
    """Returns the time from which the steps of a run are judged [s].

    Args:
        start: time at the start of the run [s].
        end: time at its end [s].
        held: the held body, or None.
        hold_start: time at which the hold begins [s].
    """
    if held is not None and hold_start < end:
        return hold_start + _TRANSIENT_OF_HOLD * (end - hold_start)
    return start + _TRANSIENT_OF_RUN * (end - start)


class Hold:
    """Follows a held body through a run: the grip before the hold, and the slip during the hold.

    Args:
        held: the held body.
        start: time at which the hold begins [s].

    Attributes:
        has_begun: True if a step has begun in the hold, whose start may be a rounding off such a time.
        dropped_at: time at which the body was dropped [s], or None.
        report: report of the last step in which something held the body, or None.
    """

    def __init__(self, held: HeldBody, start: float) -> None:
        self._held, self._start = held, start
        self._slip: Slip | None = None
        self._was_gripped = False  # before the hold
        self.has_begun = False
        self.dropped_at: float | None = None
        self.report: StepReport | None = None

    def follow(self, time: float, report: StepReport, data: mujoco.MjData) -> float:
        """Returns the slip since the start of the hold [m], or NaN if nothing holds the body.

        Args:
            time: time at the start of the step [s].
            report: report of the step.
            data: the data after the step, whose poses belong to the start of the step, as those
                after mj_step.
        """
        if self.dropped_at is not None:
            return math.nan
        if time < self._start - 1e-9:
            self._was_gripped |= self._is_gripped(report, data)
            return math.nan
        self.has_begun = True
        if self._slip is None and self._was_gripped and not self._is_gripped(report, data):
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

    def _is_gripped(self, report: StepReport, data: mujoco.MjData) -> bool:
        """True if a body that is not fixed to the world touches the held body."""
        return bool(data.model.body_weldid[self._held.find_holders(report.contacts)].any())
