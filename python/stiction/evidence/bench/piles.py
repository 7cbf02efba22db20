"""Piles of bodies: `stiction bench clutter`, also with sleep, and `stiction bench heap`."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stiction.errors import Error
from stiction.evidence.bench.scenes import BenchScene, load_pile, make_heap
from stiction.evidence.bench.timing import (
    Runner,
    make_mujoco_runner,
    make_stiction_runner,
    take_turns,
    time_in_turns,
)
from stiction.evidence.engines import drake_model, drake_plant
from stiction.setup.options import DEFAULTS

SIZES = (40, 160, 640)
SETTLE_STEPS = 20  # untimed steps of each stepper from the common state
_TIMED_BODY_STEPS = 16_000  # number of bodies times number of steps of a repeat
_DRAKE_BODY_STEPS, _DRAKE_SETTLE_STEPS = 3_200, 5


@dataclass(frozen=True)
class ClutterCase:
    """The result for one pile. Times are CPU times per step [us]. A ratio is Stiction's minimum
    divided by the peer's: below 1, Stiction is faster. Drake's values are None if it is not
    installed."""

    # bodies, contacts: number of bodies, and mean number of contacts.
    bodies: int
    start: str  # the file of the common state, or 'mj_step' if mj_step made it from the drop
    contacts: int
    us_per_step: float
    us_per_step_median: float
    mujoco_us_per_step: float
    mujoco_us_per_step_median: float
    ratio_to_mujoco: float
    drake_sap_us_per_step: float | None
    ratio_to_drake_sap: float | None
    times_faster_than_drake_sap: float | None
    # iterations, max_iterations, residual, stages_us: as in SolverSummary.
    iterations: float
    max_iterations: int
    residual: float
    stages_us: dict[str, float]


def run_clutter(
    sizes: Iterable[int] = SIZES,
    contact_model: str = DEFAULTS["contact_model"],
    *,
    tolerance: float = DEFAULTS["tolerance"],
    num_threads: int = DEFAULTS["num_threads"],
    num_repeats: int = 5,
    states: Path | None = None,
    with_drake: bool | None = None,
) -> list[ClutterCase]:
    """Times piles of 10 times a square number of bodies. The common states are files
    state_<bodies>_t2.npz with qpos and qvel in `states`. Other sizes start from the state that
    mj_step reaches 2 s after the drop."""
    if with_drake is None:
        with_drake = drake_plant.is_installed()
    solver = {"tolerance": tolerance, "num_threads": num_threads}
    return [_time_clutter(n, contact_model, solver, num_repeats, states, with_drake) for n in sizes]


def _time_clutter(
    num_bodies: int,
    contact_model: str,
    solver: dict[str, Any],
    num_repeats: int,
    states: Path | None,
    with_drake: bool,
) -> ClutterCase:
    path = states / f"state_{num_bodies}_t2.npz" if states else None
    path = path if path and path.is_file() else None
    scene = load_pile(num_bodies, has_fallen=path is None)
    if path is not None:
        _read_state(path, scene.start)
    num_steps = max(_TIMED_BODY_STEPS // num_bodies, 10)
    simulator = scene.make_simulator(contact_model, **solver)
    ours, summary = make_stiction_runner(simulator, scene.start, SETTLE_STEPS, num_steps)
    peer = make_mujoco_runner(scene.model, scene.start, SETTLE_STEPS, num_steps)
    runners = {"stiction": ours, "mujoco": peer}
    if with_drake:
        runners["drake_sap"] = _make_drake_runner(scene, num_bodies)
    times = time_in_turns(runners, num_repeats)
    us, mj, drake = times["stiction"], times["mujoco"], times.get("drake_sap")
    return ClutterCase(
        bodies=num_bodies,
        start=path.name if path else "mj_step",
        contacts=round(summary.contacts),
        us_per_step=us.minimum,
        us_per_step_median=us.median,
        mujoco_us_per_step=mj.minimum,
        mujoco_us_per_step_median=mj.median,
        ratio_to_mujoco=us.minimum / mj.minimum,
        drake_sap_us_per_step=drake.minimum if drake else None,
        ratio_to_drake_sap=us.minimum / drake.minimum if drake else None,
        times_faster_than_drake_sap=drake.minimum / us.minimum if drake else None,
        iterations=summary.iterations,
        max_iterations=summary.max_iterations,
        residual=summary.residual,
        stages_us=summary.stages_us,
    )


def _read_state(path: Path, data: mujoco.MjData) -> None:
    try:
        with np.load(path) as arrays:
            data.qpos[:] = arrays["qpos"]
            data.qvel[:] = arrays["qvel"]
    except (OSError, KeyError, ValueError) as e:
        raise Error("invalid_value", str(path), f"is not a state of this scene: {e}") from e


def _make_drake_runner(scene: BenchScene, num_bodies: int) -> Runner:
    peer = drake_model.DrakeModel(
        scene.model, scene.find_materials(), touches_in="point", stiction_tolerance=None
    )
    peer.set_state(scene.start)
    peer.advance(_DRAKE_SETTLE_STEPS)
    peer.mark()
    return Runner(peer.reset, peer.advance, max(_DRAKE_BODY_STEPS // num_bodies, 5))


# ---- piles that sleep -------------------------------------------------------------------------------

TOLERANCES = (1e-3, 2e-2)  # sleep_tolerance, MuJoCo's default first [m/s]

# Rolling friction of the spheres [m]. Without it some of them roll between the walls for a minute.
_ROLLING_FRICTION = 0.002
_MOST_SETTLE_STEPS = 10_000  # with Stiction
_MUJOCO_SETTLE_STEPS = 1_000  # of mj_step with sleep, from Stiction's settled state
_WARM_STEPS, _TIMED_STEPS = 50, 200


@dataclass(frozen=True)
class SleepCase:
    """The result for one pile. All times are CPU times of single calls of one step [us]."""

    bodies: int
    sleep_tolerance: float  # of the model [m/s]
    # asleep, mujoco_asleep: number of bodies that sleep in the timed steps.
    asleep: int
    # us_per_step, us_per_step_awake: Stiction with sleep and without it.
    us_per_step: float
    us_per_step_awake: float
    # mujoco_us_per_step, mujoco_us_per_step_sleep: mj_step without sleep and with it. The latter
    # starts from Stiction's settled state and had 2 s to put bodies to sleep.
    mujoco_us_per_step: float
    mujoco_us_per_step_sleep: float
    mujoco_asleep: int
    # ratio_to_mujoco, ratio_to_mujoco_sleep: us_per_step relative to each of these.
    ratio_to_mujoco: float
    ratio_to_mujoco_sleep: float
    sleep_bound: float  # largest Certificate.sleep_bound of the timed steps [sqrt(J)]


def run_sleeping(
    sizes: Iterable[int],
    contact_model: str = DEFAULTS["contact_model"],
    *,
    tolerance: float = DEFAULTS["tolerance"],
    num_repeats: int = 5,
    sleep_tolerances: Iterable[float] = TOLERANCES,
    settle_steps: int = _MOST_SETTLE_STEPS,
) -> list[SleepCase]:
    """Times piles that have settled, with sleep allowed, at each size and sleep tolerance [m/s]."""
    solver = {"contact_model": contact_model, "tolerance": tolerance}
    cases = itertools.product(sizes, sleep_tolerances)
    return [_time_sleep(n, slow, solver, num_repeats, settle_steps) for n, slow in cases]


def _time_sleep(
    num_bodies: int,
    sleep_tolerance: float,
    solver: dict[str, Any],
    num_repeats: int,
    settle_steps: int,
) -> SleepCase:
    # The pile falls under mj_step and settles under Stiction.
    awake, sleepy = (
        load_pile(num_bodies, rolling_friction=_ROLLING_FRICTION, has_fallen=has_fallen)
        for has_fallen in (True, False)
    )
    sleepy.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    sleepy.model.opt.sleep_tolerance = sleep_tolerance
    settled = _copy_state(sleepy.model, awake.start)
    ours = sleepy.make_simulator(**solver)
    while settled.ntree_awake > 0 and settle_steps > 0:
        ours.step(settled, min(100, settle_steps))
        settle_steps -= 100

    without, theirs = (_copy_state(awake.model, settled) for _ in range(2))
    theirs_asleep = _copy_state(sleepy.model, settled)
    mujoco.mj_step(sleepy.model, theirs_asleep, _MUJOCO_SETTLE_STEPS)
    ours_awake = awake.make_simulator(**solver)
    times = time_in_turns(
        {
            "ours": _make_going_runner(lambda: ours.step(settled)),
            "ours_awake": _make_going_runner(lambda: ours_awake.step(without)),
            "mujoco": _make_going_runner(lambda: mujoco.mj_step(awake.model, theirs)),
            "mujoco_sleep": _make_going_runner(lambda: mujoco.mj_step(sleepy.model, theirs_asleep)),
        },
        num_repeats,
    )
    report = ours.step(settled)
    us = {name: timing.minimum for name, timing in times.items()}
    return SleepCase(
        bodies=num_bodies,
        sleep_tolerance=sleep_tolerance,
        asleep=report.statistics.num_asleep,
        us_per_step=us["ours"],
        us_per_step_awake=us["ours_awake"],
        mujoco_us_per_step=us["mujoco"],
        mujoco_us_per_step_sleep=us["mujoco_sleep"],
        mujoco_asleep=sleepy.model.ntree - theirs_asleep.ntree_awake,
        ratio_to_mujoco=us["ours"] / us["mujoco"],
        ratio_to_mujoco_sleep=us["ours"] / us["mujoco_sleep"],
        sleep_bound=report.certificate.sleep_bound,
    )


def _copy_state(model: mujoco.MjModel, start: mujoco.MjData) -> mujoco.MjData:
    """Returns data in the same positions and velocities, in which all bodies are awake."""
    data = mujoco.MjData(model)
    np.copyto(data.qpos, start.qpos)
    np.copyto(data.qvel, start.qvel)
    return data


def _make_going_runner(step: Callable[[], object]) -> Runner:
    """Makes a runner that goes on, because a state that is restored is awake."""

    def advance(n: int) -> None:
        for _ in range(n):
            step()

    advance(_WARM_STEPS)
    return Runner(lambda: None, advance, _TIMED_STEPS)


# ---- the falling heap -------------------------------------------------------------------------------

NUM_BODIES = 640
DURATION = 2.4  # [s]
_INTERVAL = 0.2  # simulated time of one mean [s]
_SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}


@dataclass(frozen=True)
class HeapCase:
    """The fall under one stepper."""

    stepper: str
    contacts: int  # number of contacts at the end
    ms_per_step: float  # CPU time per step, mean of the whole fall [ms]
    ms_by_interval: list[float]  # CPU time per step, means over intervals of 0.2 s [ms]
    ratio: float  # Stiction's mean divided by this stepper's; below 1, Stiction is faster
    # Largest relative residual [-]; None for MuJoCo, which has another measure.
    residual: float | None


def run_heap(
    num_bodies: int = NUM_BODIES,
    contact_model: str = DEFAULTS["contact_model"],
    *,
    duration: float = DURATION,
    tolerance: float = DEFAULTS["tolerance"],
    num_threads: int = DEFAULTS["num_threads"],
) -> list[HeapCase]:
    """Lets the heap fall under Stiction and under mj_step with each solver; they take turns of
    0.2 s. A heap is chaotic, so the trajectories diverge. The number of contacts stays about the
    same."""
    scenes = {contact_model: make_heap(num_bodies)}
    simulator = scenes[contact_model].make_simulator(
        contact_model, tolerance=tolerance, num_threads=num_threads
    )
    residual = 0.0

    def advance(num_steps: int) -> None:
        nonlocal residual
        report = simulator.step(scenes[contact_model].start, num_steps)
        residual = max(residual, report.statistics.residual)

    num_steps = round(_INTERVAL / simulator.time_step)
    runners = {contact_model: Runner(lambda: None, advance, num_steps)}
    for solver, kind in _SOLVERS.items():
        name = f"mj_step {solver}"
        scene = scenes[name] = make_heap(num_bodies)
        scene.model.opt.solver = kind
        runners[name] = Runner(lambda: None, scene.advance_mujoco, num_steps)
    us = take_turns(runners, max(1, round(duration / _INTERVAL)))
    means = {name: statistics.fmean(times) for name, times in us.items()}
    return [
        HeapCase(
            stepper=name,
            contacts=scene.start.ncon,
            ms_per_step=1e-3 * means[name],
            ms_by_interval=[1e-3 * time for time in us[name]],
            ratio=means[contact_model] / means[name],
            residual=residual if name == contact_model else None,
        )
        for name, scene in scenes.items()
    ]
