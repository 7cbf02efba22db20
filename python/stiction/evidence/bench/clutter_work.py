"""Work-precision curves of solvers: error of a step's velocities against its CPU time.

All steppers step the clutter from the same states of its fall, with tolerances from loose to tight.
The error of a stepper is relative to its own most accurate solution, so that the curves compare
solvers, not contact models. With the mass matrix M, the velocities v0 before the step and the
accurate velocities v*,

    e = |v - v*|_M / |v* - v0|_M,

as the root mean square over the states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction._core import contact_model_traits
from stiction.evidence.bench.scenes import BenchScene, load_pile
from stiction.evidence.bench.timing import Runner
from stiction.evidence.bench.work_precision import Tell, Work, WorkCurves, measure
from stiction.recording import format as fmt

Vector = NDArray[np.float64]

_STATE_TIMES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5)  # times of the states in mj_step's run [s]
_STEPS_PER_REPEAT = 5  # number of steps from each state

TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
_ACCURATE = 1e-12  # tolerance of v*

_SOLVERS = {
    "mujoco newton": (mujoco.mjtSolver.mjSOL_NEWTON, (1, 2, 3, 5, 8, 12, 20)),
    "mujoco cg": (mujoco.mjtSolver.mjSOL_CG, (1, 3, 10, 30, 100, 300)),
    "mujoco pgs": (mujoco.mjtSolver.mjSOL_PGS, (1, 3, 10, 30, 100, 300)),
}
_ACCURATE_ITERATIONS = 200  # iterations of Newton's method for v*


Advance = Callable[[mujoco.MjData], object]


@dataclass(frozen=True)
class _Course:
    """The states that all steps start from."""

    scene: BenchScene  # the pile
    states: list[Vector]  # components of mjSTATE_INTEGRATION, (size,) each
    weights: Vector  # diagonal of M, (nv,)

    def make_data(self, state: Vector) -> mujoco.MjData:
        data = mujoco.MjData(self.scene.model)
        mujoco.mj_setState(self.scene.model, data, state, fmt.INTEGRATION)
        return data

    def calc_error(self, solutions: list[Vector], accurate: list[Vector]) -> float:
        squares = []
        for v, v_star, state in zip(solutions, accurate, self.states, strict=True):
            v0 = self.make_data(state).qvel
            squares.append(self.weights @ (v - v_star) ** 2 / (self.weights @ (v_star - v0) ** 2))
        return float(np.sqrt(np.mean(squares)))


class _Stepper:
    """One setting of one stepper, with one `advance` per state, whose warm start is its own."""

    def __init__(self, course: _Course, make_advance: Callable[[], Advance]) -> None:
        self._model = course.scene.model
        self._runs = [(make_advance(), course.make_data(state), state) for state in course.states]

    def solve(self) -> list[Vector]:
        """Returns the velocities after one step from each state, (nv,) each."""
        self.advance(1)
        return [data.qvel.copy() for _, data, _ in self._runs]

    def advance(self, num_times: int) -> None:
        """Steps num_times from each state."""
        for advance, data, state in self._runs:
            for _ in range(num_times):
                mujoco.mj_setState(self._model, data, state, fmt.INTEGRATION)
                advance(data)

    def make_work(self, key: tuple[str, str, float], error: float) -> Work:
        """Returns the work of `_STEPS_PER_REPEAT` steps from each state."""
        num_steps = _STEPS_PER_REPEAT * len(self._runs)
        runner = Runner(lambda: None, lambda _: self.advance(_STEPS_PER_REPEAT), num_steps)
        return Work(*key, runner, lambda: error)


def run_clutter_work(
    contact_models: Iterable[str],
    *,
    num_bodies: int = 40,
    quick: bool = False,
    num_repeats: int = 5,
    tell: Tell = lambda text: None,
) -> WorkCurves:
    """Runs Stiction's models (not 'tamsi') with several tolerances, and MuJoCo's solvers."""
    course = _make_course(num_bodies, _STATE_TIMES[1::4] if quick else _STATE_TIMES)
    contact_models = list(contact_models)
    works: list[Work] = []

    def add(
        name: str,
        knob: str,
        settings: Sequence[float],
        accurate: list[Vector],
        make: Callable[[float], Callable[[], Advance]],
    ) -> None:
        tell(f"clutter, {name}")
        for setting in settings:
            stepper = _Stepper(course, make(setting))
            error = course.calc_error(stepper.solve(), accurate)
            works.append(stepper.make_work((name, knob, float(setting)), error))

    for name in contact_models:
        # Other models have no convex solver with a tolerance: 'tamsi' does not converge in some
        # steps of this fall, and 'mujoco' is run by its number of iterations.
        if contact_model_traits(name).has_error_bound:
            ours = partial(_advance_ours, course.scene, name)
            add(name, "tolerance", TOLERANCES, _Stepper(course, ours(_ACCURATE)).solve(), ours)
    if any(contact_model_traits(name).is_mj_step for name in contact_models):
        newton = _advance_mujoco(course.scene, mujoco.mjtSolver.mjSOL_NEWTON, _ACCURATE_ITERATIONS)
        accurate = _Stepper(course, newton).solve()
        for name, (solver, counts) in _SOLVERS.items():
            add(
                name, "iterations", counts, accurate, partial(_advance_mujoco, course.scene, solver)
            )
    tell("clutter, times")
    traits = [contact_model_traits(name) for name in contact_models]
    left_out = [t.name for t in traits if not (t.has_error_bound or t.is_mj_step)]
    return WorkCurves(
        scene="clutter",
        error="relative error of a step's velocities [-]",
        work="CPU time per step [ms]",
        floor=None,
        points=measure(works, num_repeats),
        notes=[f"clutter is run without {name}, whose steps fail there" for name in left_out],
    )


def _make_course(num_bodies: int, times: Iterable[float]) -> _Course:
    scene = load_pile(num_bodies, has_fallen=False)
    model, data = scene.model, scene.start
    states = []
    for time in times:
        while data.time < time:
            mujoco.mj_step(model, data)
        states.append(fmt.get_state(model, data))
    # M is diagonal: all bodies are free, and are spheres or cubes.
    weights = np.column_stack([np.repeat(model.body_mass[1:, None], 3, 1), model.body_inertia[1:]])
    return _Course(scene, states, weights.ravel())


def _advance_ours(scene: BenchScene, contact_model: str, tolerance: float) -> Callable[[], Advance]:
    return lambda: (
        scene.make_simulator(
            contact_model, tolerance=tolerance, near_rigid_factor=0.0, on_failure="keep_best"
        ).step
    )


def _advance_mujoco(
    scene: BenchScene, solver: mujoco.mjtSolver, iterations: float
) -> Callable[[], Advance]:
    def advance(data: mujoco.MjData) -> None:
        options = scene.model.opt
        options.solver, options.iterations, options.tolerance = solver, int(iterations), 0.0
        mujoco.mj_step(scene.model, data)

    return lambda: advance
