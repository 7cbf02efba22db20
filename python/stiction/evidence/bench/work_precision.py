"""Work-precision curves: the error of a stepper against its CPU time, as one setting varies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

# Called with a description of the next run.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class WorkPoint:
    """The result of one stepper at one setting.

    stepper: name of the stepper.
    knob: name of the setting that varies, such as 'time_step'.
    setting: its value.
    error: error, or None if the stepper failed.
    cpu_ms, cpu_ms_median: minimum and median of the repeats, in the unit of the curves; None if the
        stepper failed.
    failed_steps: number of steps that did not converge or failed their certificate.
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
    """The results of all steppers on one scene.

    scene: name of the scene.
    error, work: descriptions with units, for the axes.
    floor: possible error of the reference itself; None if it is negligible.
    points: the results.
    notes: the steppers left out, and the reasons.
    """

    scene: str
    error: str
    work: str
    floor: float | None
    points: list[WorkPoint]
    notes: list[str] = field(default_factory=list)

    def steppers(self) -> list[str]:
        """Returns the names of the steppers."""
        return list(dict.fromkeys(point.stepper for point in self.points))

    def of_stepper(self, stepper: str) -> list[WorkPoint]:
        """Returns the results of one stepper."""
        return [point for point in self.points if point.stepper == stepper]
