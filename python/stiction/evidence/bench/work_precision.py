"""Work-precision curves: the error of a stepper against its CPU time, as one setting varies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.engines import drake_plant

# Called with a description of the next run.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class WorkPoint:
    """The result of one stepper at one setting."""

    stepper: str
    knob: str  # name of the setting that varies, such as 'time_step'
    setting: float  # its value
    error: float | None  # error, or None if the stepper failed
    # cpu_ms, cpu_ms_median: minimum and median of the repeats, in the unit of the curves; None if
    # the stepper failed.
    cpu_ms: float | None
    cpu_ms_median: float | None
    failed_steps: int = 0  # number of steps that did not converge or failed their certificate


@dataclass(frozen=True)
class WorkCurves:
    """The results of all steppers on one scene."""

    scene: str
    # error, work: descriptions with units, for the axes.
    error: str
    work: str
    floor: float | None  # possible error of the reference itself; None if it is negligible
    points: list[WorkPoint]
    notes: list[str] = field(default_factory=list)  # the steppers left out, and the reasons

    def steppers(self) -> list[str]:
        """Returns the names of the steppers."""
        return list(dict.fromkeys(point.stepper for point in self.points))

    def of_stepper(self, stepper: str) -> list[WorkPoint]:
        """Returns the results of one stepper."""
        return [point for point in self.points if point.stepper == stepper]


@dataclass(frozen=True)
class Work:
    """A stepper at one setting, which is timed."""

    # stepper, knob, setting: as in WorkPoint.
    stepper: str
    knob: str
    setting: float
    runner: Runner | None  # its runs; None if it failed
    # Returns its error after the runs; NaN or None if it failed.
    find_error: Callable[[], float | None]
    failed_steps: int = 0  # as in WorkPoint
    ms: float = 1e-3  # time in the unit of the curves, of a CPU time of 1 us per step


def measure(works: Sequence[Work], num_repeats: int) -> list[WorkPoint]:
    """Times steppers, which take turns, and returns their points."""
    runners = {str(i): work.runner for i, work in enumerate(works) if work.runner is not None}
    times = time_in_turns(runners, num_repeats)
    points = []
    for i, work in enumerate(works):
        key = (work.stepper, work.knob, work.setting)
        time, error = times.get(str(i)), work.find_error()
        if time is None or error is None or not math.isfinite(error):
            points.append(WorkPoint(*key, None, None, None, work.failed_steps or 1))
            continue
        least, median = (work.ms * us for us in (time.minimum, time.median))
        points.append(WorkPoint(*key, error, least, median, work.failed_steps))
    return points


def sort_points(points: Iterable[WorkPoint], steppers: Iterable[str]) -> list[WorkPoint]:
    """Returns points by stepper; the order of the settings stays."""
    order = list(steppers)
    return sorted(points, key=lambda point: order.index(point.stepper))


def choose_drake(with_drake: bool | None, what: str, notes: list[str]) -> bool:
    """Returns whether Drake runs; None means if it is installed. A note says that it does not."""
    if with_drake is not None:
        return with_drake
    is_installed = drake_plant.is_installed()
    if not is_installed:
        notes.append(f"Drake's {what} not run: Drake is not installed (pip install drake)")
    return is_installed
