"""Work-precision curves of the planar studies: error of the trajectory against CPU time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from stiction._core import contact_model_traits
from stiction.evidence.bench.planar_steppers import (
    MUJOCO_VARIANTS,
    MujocoStepper,
    PlanarStepper,
    StictionStepper,
)
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.bench.work_precision import Tell, WorkCurves, WorkPoint
from stiction.evidence.engines import drake_peer
from stiction.evidence.engines.drake_planar import DRAKE_MODELS, DrakeStepper
from stiction.evidence.experiments.conveyor import CASE as CONVEYOR
from stiction.evidence.experiments.falling_sphere import CASE as FALLING_SPHERE
from stiction.evidence.experiments.planar import Trajectory, Vector
from stiction.evidence.experiments.planar_case import PlanarCase
from stiction.evidence.experiments.sliding_rod import CASES as SLIDING_ROD
from stiction.setup.options import DEFAULTS

_TIMED_STEPS = 1000  # fewest steps of a repeat: short runs are repeated within it


@dataclass(frozen=True)
class PlanarWork:
    """A case to be timed.

    case: the case.
    steps: time steps [s].
    quick_steps: time steps of a quick run [s].
    error: description and unit of the error.
    """

    case: PlanarCase
    steps: tuple[float, ...]
    quick_steps: tuple[float, ...]
    error: str


PLANAR_WORK = {
    "conveyor": PlanarWork(
        CONVEYOR,
        (5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4),
        (5e-2, 1e-2, 2e-3),
        "RMS error of x, z on the belt [m]",
    ),
    "falling_sphere": PlanarWork(
        FALLING_SPHERE,
        (1e-2, 4e-3, 2e-3, 1e-3, 4e-4, 2e-4, 8e-5),
        (1e-2, 2e-3, 4e-4),
        "RMS error of x, z [m]",
    ),
    "sliding_rod": PlanarWork(
        SLIDING_ROD["without"],
        (6.4e-4, 3.2e-4, 1.6e-4, 8e-5, 4e-5, 2e-5, 1e-5),
        (6.4e-4, 1.6e-4, 4e-5),
        "RMS error of x, z [m], θ [rad]",
    ),
}

MakeStepper = Callable[[PlanarCase, float], PlanarStepper]


def run_planar_work(
    scene: str,
    contact_models: Iterable[str],
    *,
    quick: bool = False,
    tolerance: float = DEFAULTS["tolerance"],
    num_repeats: int = 5,
    with_drake: bool | None = None,
    tell: Tell = lambda text: None,
) -> WorkCurves:
    """Times every stepper at every time step and measures its error.

    The error is the distance to the reference of the study of the same name, which is computed with
    `lagged` at far smaller time steps.

    Args:
        scene: a name in PLANAR_WORK.
        contact_models: contact models to run; 'mujoco' means all of MUJOCO_VARIANTS.
        quick: whether to use fewer time steps and the study's quick reference.
        tolerance: relative tolerance of Stiction; the peers use their defaults.
        num_repeats: number of runs of each stepper; they take turns.
        with_drake: whether to run Drake; None means if it is installed.
        tell: called with a description of the next run.
    """
    work = PLANAR_WORK[scene]
    case = work.case
    coarser, reference = case.run_references(quick, tell)
    notes = []
    if with_drake is None:
        with_drake = drake_peer.is_installed()
        if not with_drake:
            notes.append("Drake's models are not run: Drake is not installed (pip install drake)")
    steppers = make_steppers(contact_models, tolerance, with_drake)
    points = []
    for step in work.quick_steps if quick else work.steps:
        tell(f"{scene} at {step:g} s")
        points += _time_steppers(case, step, steppers, reference, num_repeats)
    # Sort by stepper; the order of the time steps stays.
    order = list(steppers)
    points.sort(key=lambda point: order.index(point.stepper))
    return WorkCurves(
        scene=scene,
        error=work.error,
        work="CPU time per simulated second [ms]",
        floor=case.calc_error(coarser, reference),
        points=points,
        notes=notes,
    )


def make_steppers(
    contact_models: Iterable[str], tolerance: float, with_drake: bool
) -> dict[str, MakeStepper]:
    """Returns by name the functions that make a stepper for a case and a time step."""
    steppers: dict[str, MakeStepper] = {}
    for name in contact_models:
        if contact_model_traits(name).is_mj_step:
            for variant, options in MUJOCO_VARIANTS.items():
                steppers[variant] = partial(MujocoStepper, variant=options)
        else:
            steppers[name] = partial(StictionStepper, contact_model=name, tolerance=tolerance)
    if with_drake:
        for name in DRAKE_MODELS:
            steppers[name] = partial(DrakeStepper, model=name)
    return steppers


def _time_steppers(
    case: PlanarCase,
    step: float,
    steppers: dict[str, MakeStepper],
    reference: Trajectory,
    num_repeats: int,
) -> list[WorkPoint]:
    """Times the steppers at one time step. A stepper that cannot finish the case is not timed."""
    num_steps = round(case.duration / step)
    errors: dict[str, tuple[float, int]] = {}
    runners = {}
    for name, make in steppers.items():
        stepper = make(case, step)
        try:
            positions, failed = record_positions(stepper, num_steps)
        except RuntimeError:  # Drake raises it if a step fails
            continue
        time = step * np.arange(num_steps + 1, dtype=np.float64)
        errors[name] = case.calc_path_error(time, positions, reference), failed
        runners[name] = _make_runner(stepper, num_steps)
    times = time_in_turns(runners, num_repeats)
    points = []
    for name in steppers:
        if name not in errors or not math.isfinite(errors[name][0]):
            points.append(WorkPoint(name, "time_step", step, None, None, None, num_steps))
            continue
        error, failed = errors[name]
        # Convert us per step to ms per simulated second.
        least, median = (1e-3 * us / step for us in (times[name].minimum, times[name].median))
        points.append(WorkPoint(name, "time_step", step, error, least, median, failed))
    return points


def record_positions(stepper: PlanarStepper, num_steps: int) -> tuple[Vector, int]:
    """Runs the case. Returns the positions, (num_steps + 1, 2 or 3), and the number of failed steps."""
    stepper.reset()
    positions, failed = [stepper.get_position()], 0
    for _ in range(num_steps):
        stepper.advance(1)
        failed += stepper.count_failures()
        positions.append(stepper.get_position())
    return np.array(positions), failed


def _make_runner(stepper: PlanarStepper, num_steps: int) -> Runner:
    """Makes a runner of whole runs. The timed part includes the resets."""
    num_runs = math.ceil(_TIMED_STEPS / num_steps)

    def advance(_: int) -> None:
        for _ in range(num_runs):
            stepper.reset()
            stepper.advance(num_steps)

    return Runner(lambda: None, advance, num_runs * num_steps)
