"""Work-precision curves: the error of a stepper over the CPU time that it takes, one knob turned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Tell = Callable[[str], None]


@dataclass(frozen=True)
class WorkPoint:
    """One stepper at one setting.

    setting: of the knob. error: None where there is none, as after a failure.
    cpu_ms, cpu_ms_median: least and median of the repeats, in the units of the curves.
    failed_steps: that did not converge or had no certificate.
    """

    stepper: str
    knob: str
    setting: float
    error: float | None
    cpu_ms: float | None
    cpu_ms_median: float | None
    failed_steps: int = 0


@dataclass(frozen=True)
class WorkCurves:
    """All steppers on one scene.

    error, work: what they are of, with units, as on the axes.
    floor: error that the reference itself may have; None: far below.
    notes: which steppers were left out, and why.
    """

    scene: str
    error: str
    work: str
    floor: float | None
    points: list[WorkPoint]
    notes: list[str] = field(default_factory=list)

    def steppers(self) -> list[str]:
        return list(dict.fromkeys(point.stepper for point in self.points))

    def of_stepper(self, stepper: str) -> list[WorkPoint]:
        return [point for point in self.points if point.stepper == stepper]
