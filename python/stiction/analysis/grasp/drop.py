"""Why a body was dropped: the force that its grip lacked, and from when on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stiction import StepReport
from stiction.analysis.grasp.grip import Grip, GripReader
from stiction.analysis.grasp.limits import Vector
from stiction.runs.held_body import HeldBody
from stiction.runs.run import Step

_MAX_STEPS = 5000  # before the drop that are looked at
_LEAVING = 20  # steps in which a body may leave its grip at edges, with forces of impacts


@dataclass(frozen=True)
class Lack:
    """What a grip lacked.

    time: of the first step from which friction of all its contacts was at its bound until the drop [s].
    had, needed: sum of its normal forces then, and with which they would have held the body [N]. `needed`
        is infinite if contacts at these places hold it with no force.
    by_motion: True if the forces could have held the body at rest; `needed` is then below `had`.
    """

    time: float
    had: float
    needed: float
    by_motion: bool


class StepLog:
    """Keeps the reports of the last steps of a run, to explain a drop."""

    def __init__(self, held: HeldBody) -> None:
        self._held = held
        self._steps: deque[tuple[float, StepReport, Vector]] = deque(maxlen=_MAX_STEPS)

    def follow(self, step: Step) -> None:
        """Adds a step."""
        center = np.array(step.data.subtree_com[self._held.body])
        self._steps.append((step.time, step.report, center))

    def find_lack(self, reader: GripReader) -> Lack | None:
        """Returns what the last grip lacked; None if it was not at its bound.

        The last steps in which all contacts of the grippers are at their bound are found first, and then
        by bisection the first of them in which friction cannot carry the body. If it can in all of
        them, the motion needed more than the weight.
        """
        slipping = self._find_slipping(reader, _is_weak)
        if slipping:
            low, high = 0, len(slipping) - 1  # the last one is weak
            while low < high:
                middle = (low + high) // 2
                is_weak = _is_weak(slipping[middle][1])
                low, high = (low, middle) if is_weak else (middle + 1, high)
            return _measure(slipping[low], by_motion=False)
        slipping = self._find_slipping(reader, lambda grip: True)
        return _measure(slipping[0], by_motion=True) if slipping else None

    def _find_slipping(
        self, reader: GripReader, ends: Callable[[Grip], bool]
    ) -> list[tuple[float, Grip]]:
        """Returns the last steps with all contacts of the grippers at their bound, up to one that
        `ends`."""
        slipping: list[tuple[float, Grip]] = []
        num_leaving = 0
        for time, report, center in reversed(self._steps):
            grip = reader.read(report, center)
            if grip.fixed.all():  # or nothing touches
                if slipping:
                    break
            elif grip.at_bound[~grip.fixed].all() and (slipping or ends(grip)):
                slipping.insert(0, (time, grip))
            elif slipping or num_leaving >= _LEAVING:
                break
            else:
                num_leaving += 1
        return slipping


def _measure(step: tuple[float, Grip], by_motion: bool) -> Lack:
    time, grip = step
    had, margin = grip.calc_gripper_force(), grip.calc_margin(by_grippers=True)
    return Lack(time, had, had * (1 - margin) if math.isfinite(margin) else math.inf, by_motion)


def _is_weak(grip: Grip) -> bool:
    return grip.calc_margin(by_grippers=True) <= 0
