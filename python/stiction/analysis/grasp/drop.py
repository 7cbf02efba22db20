"""Why a body was dropped: the force that its grip lacked, and from when on."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from stiction.analysis.grasp.grip import Grip, GripReader
from stiction.runs.run import Step

_MAX_GRIPS = 2000  # steps before the drop that are looked at
_LEAVING = 20  # steps in which a body may leave its grip at edges, with forces of impacts


@dataclass(frozen=True)
class Lack:
    """What a grip lacked.

    time: of the first step from which friction of all its contacts was at its bound until the drop [s].
    had, needed: sum of its normal forces then, and with which they would have held the body [N]. `needed`
        is infinite if contacts at these places hold it with no force.
    """

    time: float
    had: float
    needed: float


class GripLog:
    """Keeps the grips of the last steps in which a body was touched by others than fixed bodies."""

    def __init__(self, reader: GripReader) -> None:
        self._reader = reader
        self._grips: deque[tuple[float, Grip]] = deque(maxlen=_MAX_GRIPS)

    def follow(self, step: Step) -> None:
        """Adds the grip of a step, if there is one."""
        grip = self._reader.read(step.report, step.data)
        if not grip.fixed.all():
            self._grips.append((step.time, grip))

    def find_lack(self) -> Lack | None:
        """Returns what the last grip lacked; None if its friction could carry the body."""
        found: Lack | None = None
        for age, (time, grip) in enumerate(reversed(self._grips)):
            margin = grip.calc_margin(by_grippers=True)
            is_weak = margin <= 0 and (found is None or grip.at_bound[~grip.fixed].all())
            if not is_weak:
                if found is None and age < _LEAVING:
                    continue
                break
            had = grip.calc_gripper_force()
            found = Lack(time, had, had * (1 - margin) if math.isfinite(margin) else math.inf)
        return found
