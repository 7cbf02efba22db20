"""Work-precision curves of solvers: error of a step's velocities against its CPU time.

All steppers step the clutter from the same states of its fall, with tolerances from loose to tight.
The error of a stepper is relative to its own most accurate solution, so that the curves compare
solvers, not contact models. With the mass matrix M, the velocities v0 before the step and the
accurate velocities v*,

    e = |v - v*|_M / |v* - v0|_M,

as the root mean square over the states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction._core import contact_model_traits
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.bench.work_precision import Tell, WorkCurves, WorkPoint
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf, make_properties
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


@dataclass(frozen=True)
class _Start:
    """The states that all steps start from.

    model: the model.
    states: components of mjSTATE_INTEGRATION, (size,) each.
    weights: diagonal of M, (nv,).
    """

    model: mujoco.MjModel
    states: list[Vector]
    weights: Vector

    def make_data(self, state: Vector) -> mujoco.MjData:
        data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, state, fmt.INTEGRATION)
        return data


Advance = Callable[[mujoco.MjData], object]


class _Stepper:
    """One setting of one stepper.

    Each state has its own `advance`, so that a solver's warm start comes from the same state.
    """

    def __init__(self, start: _Start, make_advance: Callable[[], Advance]) -> None:
        self._start = start
        self._datas = [start.make_data(state) for state in start.states]
        self._advances = [make_advance() for _ in start.states]

    def solve(self) -> list[Vector]:
        """Returns the velocities after one step from each state, (nv,) each."""
        self.advance(1)
        return [data.qvel.copy() for data in self._datas]

    def advance(self, num_times: int) -> None:
        """Steps num_times from each state."""
        for advance, data, state in zip(
            self._advances, self._datas, self._start.states, strict=True
        ):
            for _ in range(num_times):
                mujoco.mj_setState(self._start.model, data, state, fmt.INTEGRATION)
                advance(data)

    def make_runner(self) -> Runner:
        """Returns a runner for time_in_turns."""
        num_steps = _STEPS_PER_REPEAT * len(self._datas)
        return Runner(lambda: None, lambda _: self.advance(_STEPS_PER_REPEAT), num_steps)


def run_clutter_work(
    contact_models: Iterable[str],
    *,
    num_bodies: int = 40,
    quick: bool = False,
    num_repeats: int = 5,
    tell: Tell = lambda text: None,
) -> WorkCurves:
    """Runs Stiction's models with several tolerances and MuJoCo's solvers with several iterations.

    Args:
        contact_models: names of contact models. 'mujoco' means its three solvers; 'tamsi' is left
            out.
        num_bodies: number of bodies, 10 times a square number.
        quick: whether to use only two states.
        num_repeats: number of runs of each stepper; they take turns.
        tell: called with a description of the next run.
    """
    start = _make_start(num_bodies, _STATE_TIMES[1::4] if quick else _STATE_TIMES)
    contact_models = list(contact_models)
    points: list[WorkPoint] = []
    steppers: dict[tuple[str, str, float], _Stepper] = {}
    errors: dict[tuple[str, str, float], float] = {}
    for name in contact_models:
        # Other models have no convex solver with a tolerance: 'tamsi' does not converge in some
        # steps of this fall, and 'mujoco' is run by its number of iterations.
        if contact_model_traits(name).has_error_bound:
            tell(f"clutter, {name}")
            accurate = _Stepper(start, _advance_ours(start, name, _ACCURATE)).solve()
            for tolerance in TOLERANCES:
                key = (name, "tolerance", tolerance)
                steppers[key] = _Stepper(start, _advance_ours(start, name, tolerance))
                errors[key] = _calc_error(start, steppers[key].solve(), accurate)
    if any(contact_model_traits(name).is_mj_step for name in contact_models):
        newton = mujoco.mjtSolver.mjSOL_NEWTON
        accurate = _Stepper(start, _advance_mujoco(start, newton, _ACCURATE_ITERATIONS)).solve()
        for name, (solver, counts) in _SOLVERS.items():
            tell(f"clutter, {name}")
            for count in counts:
                key = (name, "iterations", float(count))
                steppers[key] = _Stepper(start, _advance_mujoco(start, solver, count))
                errors[key] = _calc_error(start, steppers[key].solve(), accurate)
    tell("clutter, times")
    names = {" ".join(map(str, key)): key for key in steppers}
    times = time_in_turns(
        {name: steppers[key].make_runner() for name, key in names.items()}, num_repeats
    )
    for name, key in names.items():
        time = times[name]
        points.append(WorkPoint(*key, errors[key], 1e-3 * time.minimum, 1e-3 * time.median))
    traits = [contact_model_traits(name) for name in contact_models]
    left_out = [t.name for t in traits if not (t.has_error_bound or t.is_mj_step)]
    return WorkCurves(
        scene="clutter",
        error="relative error of a step's velocities [-]",
        work="CPU time per step [ms]",
        floor=None,
        points=points,
        notes=[f"clutter is run without {name}, whose steps fail there" for name in left_out],
    )


def _make_start(num_bodies: int, times: Iterable[float]) -> _Start:
    model = mujoco.MjModel.from_xml_string(make_mjcf(make_clutter(num_bodies)))
    data = mujoco.MjData(model)
    states = []
    for time in times:
        while data.time < time:
            mujoco.mj_step(model, data)
        states.append(fmt.get_state(model, data))
    # M is diagonal: all bodies are free, and are spheres or cubes.
    weights = np.column_stack([np.repeat(model.body_mass[1:, None], 3, 1), model.body_inertia[1:]])
    return _Start(model, states, weights.ravel())


def _advance_ours(start: _Start, contact_model: str, tolerance: float) -> Callable[[], Advance]:
    def make() -> Advance:
        with ignored_settings_are_fine():
            return stiction.Simulator(
                start.model,
                contact_model,
                properties=make_properties(),
                tolerance=tolerance,
                near_rigid_factor=0.0,
                on_failure="keep_best",
            ).step

    return make


def _advance_mujoco(
    start: _Start, solver: mujoco.mjtSolver, iterations: int
) -> Callable[[], Advance]:
    def advance(data: mujoco.MjData) -> None:
        options = start.model.opt
        options.solver, options.iterations, options.tolerance = solver, iterations, 0.0
        mujoco.mj_step(start.model, data)

    return lambda: advance


def _calc_error(start: _Start, solutions: list[Vector], accurate: list[Vector]) -> float:
    squares = []
    for v, v_star, state in zip(solutions, accurate, start.states, strict=True):
        v0 = start.make_data(state).qvel
        squares.append(start.weights @ (v - v_star) ** 2 / (start.weights @ (v_star - v0) ** 2))
    return float(np.sqrt(np.mean(squares)))
