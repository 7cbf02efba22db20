"""`stiction bench patches`: times steps with pressure-field contact against Drake's."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

import stiction
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.bench.patch_queries import DRIFT
from stiction.evidence.bench.timing import Runner, copy_data, make_stiction_runner, time_in_turns
from stiction.evidence.engines.drake_model import DrakeModel, Scheme, find_materials
from stiction.evidence.experiments import gripper
from stiction.evidence.experiments.spatula import EXAMPLE
from stiction.inputs.package_scenes import find_scene_file
from stiction.scene import Scene

_SETTLE_STEPS = 5  # untimed steps of each stepper from the common state
_NUM_STEPS = 20  # timed steps of each stepper, after the untimed ones
_HOLD_TIME = 0.3  # simulated time from the start to the common state [s]
# The model under which the common state is reached, so that all models are timed from the same state.
# From the state that coulomb reaches with 1200 faces, Drake's CENIC ends the process.
_HOLD_MODEL = "lagged_regularized"


@dataclass(frozen=True)
class PairTime:
    """The contact surface of a pair of geoms alone."""

    faces: float  # mean number of faces
    us: float  # CPU time of a query, minimum of the repeats [us]


@dataclass(frozen=True)
class StepCase:
    """The result for one common state. Times are CPU times per step, minima of the repeats
    unless noted [us]. Drake's values are None or empty if it was not timed."""

    scene: str  # name of the state
    # faces, points: number of faces and of contact points in the next step.
    faces: int
    points: int
    us_per_step: float
    us_per_step_median: float
    # iterations, residual: mean Newton iterations per step, and largest relative residual [-].
    iterations: float
    residual: float
    # query_us, query_faces: time and mean number of faces of the contact surfaces alone, for geoms
    # that move to and fro.
    query_us: float
    query_faces: float
    pairs: dict[str, PairTime]  # the same for each touching pair of geoms alone
    solve_us: float  # median wall time of the solver [us]
    drake_faces: int | None  # Drake's number of faces
    # drake_us, drake_us_median: Drake's times by scheme.
    drake_us: dict[str, float]
    drake_us_median: dict[str, float]
    drake_best_us: float | None  # time of the fastest scheme
    drake_query_us: float | None  # time of Drake's contact surfaces alone
    # Stiction's time divided by that of the fastest scheme; below 1, Stiction is faster.
    ratio: float | None
    wanted: float  # largest ratio that is required


@dataclass(frozen=True)
class _Start:
    """A common state, from which all steppers start."""

    name: str  # name of the state
    # scene, simulator, data: the scene, Stiction's simulator of it, and the state.
    scene: Scene
    simulator: stiction.Simulator
    data: mujoco.MjData
    wanted: float  # largest ratio to Drake that is required


def run_gripper_steps(contact_model: str, *, num_repeats: int, with_drake: bool) -> list[StepCase]:
    """Times the gripper at rest, holding the spatula with the pancake, at all resolutions."""
    cases = []
    for resolution in gripper.RESOLUTIONS:
        scene = gripper.load_gripper(resolution)
        simulator = gripper.make_gripper_simulator(scene, contact_model)
        data = scene.make_data()
        holder = gripper.make_gripper_simulator(scene, _HOLD_MODEL)
        holder.step(data, round(_HOLD_TIME / gripper.TIME_STEP))
        name = f"gripper {resolution.name}"
        start = _Start(name, scene, simulator, data, wanted=1 / 4)
        cases.append(_time_steps(start, ("sap", "cenic") if with_drake else (), num_repeats))
    return cases


def run_spatula_steps(contact_model: str, *, num_repeats: int, with_drake: bool) -> list[StepCase]:
    """Times the spatula of Drake's example in its tight and its loose phase, with steps of 40 ms."""
    scene = stiction.load_scene(find_scene_file("spatula"))
    with ignored_settings_are_fine():
        simulator = scene.make_simulator(contact_model)
        holder = scene.make_simulator(_HOLD_MODEL)
    data = scene.make_data()
    cases = []
    for phase, force in (("tight", EXAMPLE.tight), ("loose", EXAMPLE.loose)):
        data.ctrl[:] = force
        holder.step(data, round(_HOLD_TIME / holder.time_step))
        start = _Start(f"spatula {phase}", scene, simulator, data, wanted=1 / 5)
        cases.append(_time_steps(start, ("lagged",) if with_drake else (), num_repeats))
    return cases


def _time_steps(start: _Start, schemes: tuple[Scheme, ...], num_repeats: int) -> StepCase:
    model, simulator = start.scene.model, start.simulator
    ours, summary = make_stiction_runner(simulator, start.data, _SETTLE_STEPS, _NUM_STEPS)
    query, pairs = _make_surface_runner(start, model), _make_pair_runners(start, model)
    runners = {"stiction": ours, "query": query.runner}
    runners |= {name: pair.runner for name, pair in pairs.items()}
    peers = {scheme: _make_drake(start, scheme) for scheme in schemes}
    for scheme, peer in peers.items():
        runners[scheme] = Runner(peer.reset, peer.advance, _NUM_STEPS)
    if peers:
        first = peers[schemes[0]]
        runners["drake_query"] = Runner(first.reset, first.query, _NUM_STEPS)
    times = time_in_turns(runners, num_repeats)
    us, query_us = times.pop("stiction"), times.pop("query").minimum
    pair_times = {
        name: PairTime(pair.faces, times.pop(name).minimum) for name, pair in pairs.items()
    }
    drake_query = times.pop("drake_query", None)
    best = min((timing.minimum for timing in times.values()), default=None)
    report = simulator.step(copy_data(model, start.data))
    return StepCase(
        scene=start.name,
        faces=report.patches.num_faces,
        points=len(report.contacts),
        us_per_step=us.minimum,
        us_per_step_median=us.median,
        iterations=summary.iterations,
        residual=summary.residual,
        query_us=query_us,
        query_faces=query.faces,
        pairs=pair_times,
        solve_us=summary.stages_us["solve"],
        drake_faces=first.count_faces() if peers else None,
        drake_us={scheme: timing.minimum for scheme, timing in times.items()},
        drake_us_median={scheme: timing.median for scheme, timing in times.items()},
        drake_best_us=best,
        drake_query_us=drake_query.minimum if drake_query else None,
        ratio=us.minimum / best if best else None,
        wanted=start.wanted,
    )


def _make_drake(start: _Start, scheme: Scheme) -> DrakeModel:
    peer = DrakeModel(
        start.scene.model,
        find_materials(start.scene.model, start.simulator),
        scheme=scheme,
        stiction_tolerance=start.simulator.options["stiction_tolerance"],
    )
    peer.set_state(start.data)
    peer.advance(_SETTLE_STEPS)
    peer.mark()
    return peer


@dataclass(frozen=True)
class _SurfaceRunner:
    """A runner with the mean number of faces of its queries. The number is taken from the
    queries themselves, because meshes that match in a symmetric state have several times as many
    faces as soon as they slide."""

    faces: float
    runner: Runner


def _make_surfaces(start: _Start, model: mujoco.MjModel) -> stiction.ContactSurfaces:
    return stiction.ContactSurfaces(model, start.simulator.properties, tessellation="polygon")


def _make_surface_runner(start: _Start, model: mujoco.MjModel) -> _SurfaceRunner:
    """Makes a runner for all pairs at a copy of the common state."""
    surfaces = _make_surfaces(start, model)
    copied = copy_data(model, start.data)
    # Queries alternate between the displaced and the original state.
    faces = [surfaces.calc(copied, num_times, DRIFT).num_faces for num_times in (1, 2)]
    runner = Runner(lambda: None, lambda n: surfaces.calc(copied, n, DRIFT), _NUM_STEPS)
    return _SurfaceRunner(sum(faces) / 2, runner)


def _make_pair_runners(start: _Start, model: mujoco.MjModel) -> dict[str, _SurfaceRunner]:
    """Makes a runner for each pair that touches at the common state, by the names of its geoms."""
    runners = {}
    for patch in _make_surfaces(start, model).calc(start.data):
        A, B = patch.geoms
        alone = copy.copy(model)
        alone.geom_contype[:] = alone.geom_conaffinity[:] = 0
        alone.geom_contype[A] = alone.geom_conaffinity[B] = 1
        name = f"{model.geom(A).name}, {model.geom(B).name}"
        runners[name] = _make_surface_runner(start, alone)
    return runners


@dataclass(frozen=True)
class Exponent:
    """The exponent with which a time grows with the number of faces over the gripper's resolutions."""

    time: str  # the time that grows
    # ours, drake: exponents of Stiction and Drake; None if not measured.
    ours: float | None
    drake: float | None
    wanted: float = 1.05  # largest exponent that is required


_GROWTH = 4  # the faces of a pair must grow by this factor to fit a meaningful slope


def fit_exponents(cases: list[StepCase]) -> list[Exponent]:
    """Fits the exponents of the queries over their faces, and of the step of the fastest scheme."""
    faces: list[float] = [case.faces for case in cases]
    queries = [case.drake_query_us for case in cases if case.drake_query_us is not None]
    steps = [case.drake_best_us for case in cases if case.drake_best_us is not None]
    exponents = [
        Exponent(
            "query",
            _fit([case.query_faces for case in cases], [case.query_us for case in cases]),
            _fit(faces, queries),
        ),
        Exponent("step", _fit(faces, [c.us_per_step for c in cases]), _fit(faces, steps)),
    ]
    for name in cases[0].pairs:
        pairs = [case.pairs[name] for case in cases if name in case.pairs]
        if len(pairs) < len(cases) or pairs[-1].faces < _GROWTH * pairs[0].faces:
            continue
        fitted = _fit([pair.faces for pair in pairs], [pair.us for pair in pairs])
        exponents.append(Exponent(f"query of {name}", fitted, None))
    return exponents


def _fit(faces: list[float], us: list[float]) -> float | None:
    """Returns the slope of a least-squares fit of the logarithms, or None if times are missing."""
    if len(us) != len(faces):
        return None
    return float(np.polyfit(np.log(faces), np.log(us), 1)[0])
