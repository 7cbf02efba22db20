"""Work-precision curves of the planar studies: error of the trajectory against CPU time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import mujoco
import numpy as np

from stiction._core import contact_model_traits
from stiction.evidence.bench.timing import Runner
from stiction.evidence.bench.work_precision import (
    Tell,
    Work,
    WorkCurves,
    choose_drake,
    measure,
    sort_points,
)
from stiction.evidence.engines.drake_planar import DRAKE_MODELS, DrakeStepper
from stiction.evidence.experiments.conveyor import CASE as CONVEYOR
from stiction.evidence.experiments.falling_sphere import CASE as FALLING_SPHERE
from stiction.evidence.experiments.planar import (
    Trajectory,
    Vector,
    calc_ground_velocities,
    set_ground_velocity,
)
from stiction.evidence.experiments.planar_case import PlanarCase
from stiction.evidence.experiments.sliding_rod import CASES as SLIDING_ROD
from stiction.setup.options import DEFAULTS

_TIMED_STEPS = 1000  # fewest steps of a repeat: short runs are repeated within it


@dataclass(frozen=True)
class PlanarWork:
    """A case to be timed."""

    case: PlanarCase
    steps: tuple[float, ...]  # time steps [s]
    quick_steps: tuple[float, ...]  # time steps of a quick run [s]
    error: str  # description and unit of the error


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


class PlanarStepper(Protocol):
    """A simulator that steps one case."""

    def reset(self) -> None:
        """Returns to the start of the case."""

    def advance(self, num_steps: int) -> None:
        """Takes num_steps steps. The steps since reset() must not exceed the case's duration."""

    def get_position(self) -> Vector:
        """Returns x and z relative to the ground [m], and theta [rad] of a rotating body, (2 or 3,)."""

    def count_failures(self) -> int:
        """Returns the number of failed steps in the last call of advance(1)."""


@dataclass(frozen=True)
class MujocoVariant:
    """A setting of MuJoCo."""

    cone: mujoco.mjtCone  # type of the friction cones
    is_stiff: bool  # whether contacts have MuJoCo's largest stiffness, or its default


MUJOCO_VARIANTS = {
    "mujoco elliptic": MujocoVariant(mujoco.mjtCone.mjCONE_ELLIPTIC, True),
    "mujoco pyramidal": MujocoVariant(mujoco.mjtCone.mjCONE_PYRAMIDAL, True),
    "mujoco default": MujocoVariant(mujoco.mjtCone.mjCONE_PYRAMIDAL, False),
}


class _MujocoState:
    """A case with its state in MuJoCo's coordinates and the motion of its ground."""

    def __init__(
        self,
        case: PlanarCase,
        contact_model: str,
        model: mujoco.MjModel,
        step: Callable[[mujoco.MjData, int], object],
    ) -> None:
        time_step = model.opt.timestep
        self._case = case
        self._model = model
        self._data = mujoco.MjData(model)
        self._step = step
        self._start = case.make_start(contact_model, time_step)
        self._ground = calc_ground_velocities(
            case.ground_position, time_step, round(case.duration / time_step)
        )
        self._steps_taken = 0

    def reset(self) -> None:
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:], self._data.qvel[:] = self._start
        self._steps_taken = 0

    def advance(self, num_steps: int) -> None:
        if self._ground is None:
            self._step(self._data, num_steps)
        else:
            for velocity in self._ground[self._steps_taken : self._steps_taken + num_steps]:
                set_ground_velocity(self._model, velocity)
                self._step(self._data, 1)
        self._steps_taken += num_steps

    def get_position(self) -> Vector:
        q = np.array(self._data.qpos)
        if self._case.ground_position is not None:
            time = self._steps_taken * self._model.opt.timestep
            q[0] -= float(self._case.ground_position(np.array(time)))
        return q


class StictionStepper(_MujocoState):
    """Stiction as a PlanarStepper."""

    def __init__(
        self, case: PlanarCase, time_step: float, contact_model: str, tolerance: float
    ) -> None:
        simulator = case.body.make_simulator(contact_model, time_step, tolerance=tolerance)
        self._failed = 0

        def step(data: mujoco.MjData, num_steps: int) -> None:
            self._failed = not simulator.step(data, num_steps).ok

        super().__init__(case, contact_model, simulator.model, step)

    def count_failures(self) -> int:
        return int(self._failed)


class MujocoStepper(_MujocoState):
    """mj_step with its default tolerance as a PlanarStepper."""

    def __init__(self, case: PlanarCase, time_step: float, variant: MujocoVariant) -> None:
        model = case.body.make_model(time_step)
        usual = mujoco.MjOption()
        model.opt.tolerance, model.opt.iterations = usual.tolerance, usual.iterations
        model.opt.cone = variant.cone
        if not variant.is_stiff:
            soft = mujoco.MjSpec().default.geom
            model.geom_solref[:], model.geom_solimp[:] = soft.solref, soft.solimp

        def step(data: mujoco.MjData, num_steps: int) -> None:
            mujoco.mj_step(model, data, num_steps)

        super().__init__(case, "mujoco", model, step)

    def count_failures(self) -> int:
        return 0


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
    """Times every stepper at every time step, and measures its distance to the reference of the
    study of the same name. 'mujoco' means all of MUJOCO_VARIANTS."""
    work = PLANAR_WORK[scene]
    case = work.case
    coarser, reference = case.run_references(quick, tell)
    notes: list[str] = []
    with_drake = choose_drake(with_drake, "models are", notes)
    steppers = make_steppers(contact_models, tolerance, with_drake)
    points = []
    for step in work.quick_steps if quick else work.steps:
        tell(f"{scene} at {step:g} s")
        works = [
            _make_work(name, make(case, step), case, step, reference)
            for name, make in steppers.items()
        ]
        points += measure(works, num_repeats)
    return WorkCurves(
        scene=scene,
        error=work.error,
        work="CPU time per simulated second [ms]",
        floor=case.calc_error(coarser, reference),
        points=sort_points(points, steppers),
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


def _make_work(
    name: str, stepper: PlanarStepper, case: PlanarCase, step: float, reference: Trajectory
) -> Work:
    """Returns the work of a stepper. One that cannot finish the case is not timed."""
    num_steps = round(case.duration / step)
    try:
        positions, failed = record_positions(stepper, num_steps)
        time = step * np.arange(num_steps + 1, dtype=np.float64)
        error = case.calc_path_error(time, positions, reference)
    except RuntimeError:  # Drake raises it if a step fails
        error = math.nan
    if not math.isfinite(error):
        return Work(name, "time_step", step, None, lambda: None, num_steps)
    runner = _make_runner(stepper, num_steps)
    # The time is that of a simulated second.
    return Work(name, "time_step", step, runner, lambda: error, failed, ms=1e-3 / step)


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
