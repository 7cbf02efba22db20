"""Measures how the trajectories of a scene converge with the time step, model by model."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from stiction.analysis.converge import analysis
from stiction.analysis.converge.norm import (
    DISPLACEMENTS,
    Vector,
    calc_distances,
    calc_levers,
    calc_rms,
    judge_sensitivity,
    make_displacement,
)
from stiction.binding.interrupts import AfterStep
from stiction.errors import Error, StictionWarning
from stiction.inputs.names import label_model
from stiction.runs.controls import ControlsName
from stiction.runs.run import Run, RunEnd, RunSettings, Step
from stiction.scene import Scene
from stiction.setup.defaults import builtin_defaults
from stiction.setup.options import DEFAULTS

RATIO = 2  # of successive steps
TOLERANCE = 1e-9  # of the solver, so that its error does not count as one of the step
_INTERRUPTED = "interrupted"
_REFERENCES = ("coulomb", "lagged", "lagged_regularized")  # consistent models, the best first


@dataclasses.dataclass
class ModelConvergence:
    """The convergence of one contact model. None means unknown.

    Attributes:
        contact_model: name of the contact model.
        label: the name, followed by 'own friction' if the model refuses the friction law.
        status: 'ok', 'chaotic', 'not_converging' if finer steps do not come closer, 'failed' if a
            step failed, or 'refused' if the model rejects the scene.
        message: what the status means here; empty for 'ok'.
        errors: error of each run [m], the coarsest first. If the status is 'not_converging', distances
            from the finest run, without an entry for this one.
        order: observed order of convergence of the finest runs [-].
        finest_error: error of the finest run, extrapolated [m].
        accurate_step: largest step that reaches the accuracy [s].
        is_extrapolated: True if this step is smaller than that of all runs.
        limit_distance: distance of the finest run from that of the reference model [m]: the error of
            the model, which no step removes.
        judged_time: time from the start in which errors are judged [s].
        growth: growth of a small displacement of the start [-].
        folding_time: time in which it grows by e, if the scene is chaotic [s].
    """

    contact_model: str
    label: str = ""
    status: str = "ok"
    message: str = ""
    errors: list[float] = dataclasses.field(default_factory=list)
    order: float | None = None
    finest_error: float | None = None
    accurate_step: float | None = None
    is_extrapolated: bool = False
    limit_distance: float | None = None
    judged_time: float = 0.0
    growth: float | None = None
    folding_time: float | None = None


@dataclasses.dataclass
class Convergence:
    """The result of measure_convergence.

    Attributes:
        scene: path of the scene.
        time_steps: steps of the runs, falling [s].
        duration: simulated time [s].
        accuracy: error that a step should reach [m].
        reference: model whose finest run the others are compared with.
        controls, seed: what drove the actuators.
        period: time between two controls [s].
        models: the results of each contact model.
        interrupted: True if the runs were ended early.
    """

    scene: str
    time_steps: list[float]
    duration: float
    accuracy: float
    reference: str
    controls: str
    seed: int
    period: float
    models: list[ModelConvergence] = dataclasses.field(default_factory=list)
    interrupted: bool = False

    def figures(self) -> dict[str, Any]:
        """Everything by name, fit for JSON."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class _Trajectory:
    """The positions of a run at its samples, (n, nq), and a message if a step failed."""

    time_step: float
    positions: Vector
    message: str = ""


@builtin_defaults()
def measure_convergence(
    scene: Scene,
    contact_models: Sequence[str],
    *,
    friction_law: str = DEFAULTS["friction_law"],
    time_step: float | None = None,
    num_steps: int = 5,
    duration: float | None = None,
    accuracy: float = 1e-3,
    controls: ControlsName | None = None,
    seed: int = 0,
    period: float | None = None,
    options: Mapping[str, Any] | None = None,
    after_step: AfterStep = lambda: False,
) -> Convergence:
    """Runs a scene with falling time steps under each contact model.

    Errors are distances in meters, [theory:error-norm] with levers for rotations, as root mean square
    over time.

    Args:
        scene: the scene, as load_scene returns it.
        contact_models: names of contact models.
        friction_law: as in Simulator, for the models that use laws. A model that refuses the law, as
            most do 'elastic', runs with its own friction.
        time_step: the largest step [s]; None means the scene's. Each further run has half the step.
        num_steps: number of steps, at least 3.
        duration: simulated time [s]; None means to the end of the scene's schedule, or 2 s.
        accuracy: the error that a step should reach, above 0 [m].
        controls, seed: as in `stiction run`.
        period: time between two controls of each run, a multiple of the largest step [s]; None means
            the largest step. So all runs have the same controls, and what a schedule changes between
            them is not counted as an error of the step.
        options: other arguments of Simulator; the tolerance is 1e-9 unless they have one.
        after_step: called after each step; the runs end if it returns True.

    Raises:
        Error: an argument is out of range.
    """
    _check_arguments(num_steps, accuracy)
    settings = RunSettings(
        scene,
        time_step=time_step,
        duration=duration,
        controls=controls,
        seed=seed,
        options={"tolerance": TOLERANCE, "on_failure": "raise", **(options or {})},
    )
    largest = settings.find_time_step()
    # All runs have samples at the ends of the largest steps.
    settings = dataclasses.replace(settings, time_step=largest)
    result = Convergence(
        scene=str(scene.path),
        time_steps=[largest / RATIO**level for level in range(num_steps)],
        duration=settings.count_steps() * largest,
        accuracy=accuracy,
        reference=next((m for m in _REFERENCES if m in contact_models), contact_models[0]),
        controls=settings.find_controls().value,
        seed=seed,
        period=_find_num_steps(period, largest) * largest,
    )
    finest: dict[str, Vector] = {}
    levers = calc_levers(scene.model)
    for name in contact_models:
        model, positions = _measure(
            settings.under(name, friction_law),
            label_model(name, friction_law),
            result,
            levers,
            after_step,
        )
        result.models.append(model)
        if positions is not None:
            finest[name] = positions
        if model.message == _INTERRUPTED:
            result.interrupted = True
            break
    _compare_limits(result, finest, scene.model, levers)
    return result


def _check_arguments(num_steps: int, accuracy: float) -> None:
    if num_steps < 3:
        raise Error(
            "invalid_value",
            "num_steps",
            f"is {num_steps}; an order needs runs with at least 3 steps",
        )
    if not accuracy > 0:
        raise Error("invalid_value", "accuracy", f"is {accuracy:g} m, must be above 0")


def _find_num_steps(period: float | None, largest: float) -> int:
    """Returns the number of largest steps [s] in a period of controls [s], or raises Error."""
    count = 1 if period is None else round(period / largest)
    if period is not None and (count < 1 or abs(period - count * largest) > 1e-6 * largest):
        raise Error(
            "invalid_value",
            "period",
            f"is {period:g} s; all runs can have the same controls only at the ends of the largest "
            f"steps, so give a multiple of {largest:g} s, or a smaller time step",
        )
    return count


def _run(
    settings: RunSettings,
    refinement: int,
    period: float,
    after_step: AfterStep,
    displacement: Vector | None = None,
) -> _Trajectory:
    """Runs with the time step over `refinement`, from a start that may be displaced, (nv,).

    Controls change once in a period [s].
    """
    time_step = settings.find_time_step() / refinement
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StictionWarning)
        simulator = dataclasses.replace(settings, time_step=time_step).make_simulator()
        data = settings.scene.make_data()
        if displacement is not None:
            mujoco.mj_integratePos(simulator.model, data.qpos, displacement, 1.0)
        samples = [data.qpos.copy()]

        def sample(step: Step) -> None:
            if (step.index + 1) % refinement == 0:
                samples.append(data.qpos.copy())

        num_steps = settings.count_steps() * refinement
        controls, held = settings.make_controls(), round(period / time_step)

        def control(data: mujoco.MjData) -> None:
            if run.num_made % held == 0:
                controls(data)

        run = Run(simulator, data, num_steps, control)
        message = ""
        try:
            if run.to_end(sample, stop=after_step) == RunEnd.stopped:
                message = _INTERRUPTED
        except Error as e:
            message = f"{e} at {data.time:.4g} s"
    return _Trajectory(time_step, np.array(samples), message)


def _measure(
    settings: RunSettings, label: str, result: Convergence, levers: Vector, after_step: AfterStep
) -> tuple[ModelConvergence, Vector | None]:
    """Returns the convergence of a model, and the positions of its finest run."""
    out = ModelConvergence(settings.contact_model, label)
    runs: list[_Trajectory] = []
    try:
        for level in range(len(result.time_steps)):
            runs.append(_run(settings, RATIO**level, result.period, after_step))
            if runs[-1].message:
                out.status, out.message = "failed", runs[-1].message
                if out.message == _INTERRUPTED:
                    out.status = _INTERRUPTED
                else:
                    out.message = f"at steps of {runs[-1].time_step:g} s: {out.message}"
                return out, None
        displaced = [
            _run(
                settings, RATIO, result.period, after_step, make_displacement(levers, size)
            ).positions
            for size in DISPLACEMENTS
        ]
    except Error as e:
        out.status, out.message = "refused", str(e)
        return out, None
    model = settings.scene.model
    count = min(len(run) for run in (*displaced, runs[1].positions))
    sample_time = result.time_steps[0]
    sensitivity = judge_sensitivity(
        [calc_distances(model, levers, runs[1].positions[:count], q[:count]) for q in displaced],
        sample_time,
    )
    out.growth, out.folding_time = sensitivity.growth, sensitivity.folding_time
    judged = slice(1, max(sensitivity.horizon, 2))
    out.judged_time = (judged.stop - 1) * sample_time
    positions = [run.positions[judged] for run in runs]
    _judge(out, model, levers, positions, result)
    if sensitivity.is_chaotic:
        out.status = "chaotic"
        out.message = (
            f"a small displacement grows {sensitivity.growth:.2g} times within "
            f"{result.duration:.3g} s, by e in {sensitivity.folding_time:.2g} s; no step follows one "
            f"trajectory, so only the first {out.judged_time:.3g} s are judged; compare averages of "
            "many runs instead"
        )
    return out, runs[-1].positions


def _judge(
    out: ModelConvergence,
    model: Any,
    levers: Vector,
    positions: Sequence[Vector],
    result: Convergence,
) -> None:
    """Sets errors, order and step from the positions of all runs."""

    def calc_distance(a: Vector, b: Vector) -> float:
        return calc_rms(calc_distances(model, levers, a, b))

    differences = [calc_distance(a, b) for a, b in itertools.pairwise(positions)]
    out.order = analysis.calc_order(differences, RATIO)
    out.finest_error = analysis.estimate_finest_error(differences, out.order, RATIO)
    finest = out.finest_error or 0.0
    # The distance from the finest run, and the error of that run.
    out.errors = [calc_distance(q, positions[-1]) + finest for q in positions[:-1]] + [finest]
    if out.finest_error is None:
        out.errors.pop()
        out.status = "not_converging"
        order = "none" if out.order is None else f"{out.order:.2g}"
        out.message = (
            f"halving the step does not reduce the difference of runs as a power of it (order {order}); "
            "errors are distances from the finest run; take smaller steps, or give near-rigid contacts a "
            "stiffness, because their own depends on the step"
        )
    out.accurate_step = analysis.find_step(
        result.time_steps[: len(out.errors)], out.errors, result.accuracy, out.order
    )
    if out.accurate_step is not None:
        out.is_extrapolated = out.accurate_step < result.time_steps[-1]


def _compare_limits(
    result: Convergence, finest: dict[str, Vector], model: mujoco.MjModel, levers: Vector
) -> None:
    """Sets the distances of the finest runs from that of the reference model."""
    reference = finest.get(result.reference)
    if reference is None:
        return
    for out in result.models:
        if out.contact_model not in finest:
            continue
        count = 1 + round(out.judged_time / result.time_steps[0])
        a, b = finest[out.contact_model][1:count], reference[1:count]
        out.limit_distance = calc_rms(calc_distances(model, levers, a, b))
