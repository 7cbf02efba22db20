"""`stiction bench batch`: times stiction.Batch against mujoco.batch.Batch on the same controls."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

import mujoco
import mujoco.batch
import numpy as np

from stiction.batch import Batch
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.bench.scenes import BenchScene, load, load_pile
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.recording import format as fmt
from stiction.runs.run import Run, Step
from stiction.setup.options import DEFAULTS

# Robots of Gymnasium and of this package, and the pile of `bench clutter`.
PILE = "clutter_160"
SCENES = ("gym_humanoid", "ant", "scenes/quadruped.xml", "hand_block", PILE)

_NUM_SIMS = 32
_NUM_SETTLE_STEPS = 20  # untimed steps after a reset
_NUM_STEPS = 100
_NUM_DOF_STEPS = 20_000  # dofs times steps of one simulation, for large models
_NUM_CONTROLS = 10  # that are given in turn


@dataclass(frozen=True)
class BatchCase:
    """The result for one scene. Times are CPU times per step of one simulation on one thread
    [us]. `speed` is the number of steps per second of Stiction's batch over that of MuJoCo's:
    above 1, Stiction is faster."""

    scene: str
    dofs: int
    # contacts, iterations: means over simulations and steps of the last repeat.
    contacts: float
    iterations: float
    us_per_step: float
    us_per_step_median: float
    mujoco_us_per_step: float
    mujoco_us_per_step_median: float
    speed: float
    # Share of the certificate in a step's time, from the timings of a Simulator [-].
    certificate: float
    # Wall time on one thread over twice that on two threads [-]; minimum of the repeats each.
    efficiency: float


def run_batch(
    name: str,
    contact_model: str = DEFAULTS["contact_model"],
    *,
    num_sims: int = _NUM_SIMS,
    num_repeats: int = 5,
) -> BatchCase:
    """Times both batches of a scene from its first keyframe or its reset under random controls.
    MuJoCo's batch steps robots with `implicitfast`, as it does best, so that forces are evaluated
    once per step in both."""
    scene = _load(name)
    model = scene.model
    controls = _make_controls(model, num_sims)
    with ignored_settings_are_fine():
        ours = {
            n: Batch(model, num_sims, n, contact_model=contact_model, properties=scene.properties)
            for n in (1, 2)
        }
    peer = mujoco.batch.Batch(model, num_sims, 1)
    runners = {
        "stiction": _make_runner(scene, ours[1], controls),
        "mujoco": _make_runner(scene, peer, controls),
    }
    times = time_in_turns(runners, num_repeats)
    us, mj = times["stiction"], times["mujoco"]
    walls = {
        n: _time_wall(_make_runner(scene, batch, controls), num_repeats)
        for n, batch in ours.items()
    }
    contacts, iterations = _count(scene, ours[1], controls)
    return BatchCase(
        scene=name,
        dofs=model.nv,
        contacts=contacts,
        iterations=iterations,
        us_per_step=us.minimum,
        us_per_step_median=us.median,
        mujoco_us_per_step=mj.minimum,
        mujoco_us_per_step_median=mj.median,
        speed=mj.minimum / us.minimum,
        certificate=_find_share_of_certificate(scene, contact_model, controls),
        efficiency=walls[1] / (2 * walls[2]),
    )


def _load(name: str) -> BenchScene:
    if name == PILE:
        return load_pile(160)
    scene = load(name)
    scene.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return BenchScene(scene.model, None, scene.make_data())


def _make_runner(scene: BenchScene, batch: mujoco.batch.Batch, controls: np.ndarray) -> Runner:
    state = fmt.get_state(scene.model, scene.start)

    def reset() -> None:
        batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        batch.state[:] = state
        _advance(batch, controls, _NUM_SETTLE_STEPS)

    num_steps = _count_steps(scene) * batch.nsim
    return Runner(reset, lambda n: _advance(batch, controls, n // batch.nsim), num_steps)


def _count_steps(scene: BenchScene) -> int:
    """Returns the number of steps that each simulation takes."""
    return max(10, min(_NUM_STEPS, _NUM_DOF_STEPS // int(scene.model.nv)))


def _make_controls(model: mujoco.MjModel, num_sims: int) -> np.ndarray:
    """Makes controls in their ranges, or in [-1, 1] without one; (k, num_sims, nu)."""
    low, high = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, [-1, 1]).T
    return np.random.default_rng(0).uniform(low, high, (_NUM_CONTROLS, num_sims, model.nu))


def _advance(
    batch: mujoco.batch.Batch,
    controls: np.ndarray,
    num_steps: int,
    look: Callable[[], object] = lambda: None,
) -> None:
    ctrl = batch.bind("ctrl")
    for k in range(num_steps):
        ctrl[:] = controls[k % len(controls)]
        batch.step()
        look()


def _time_wall(runner: Runner, num_repeats: int) -> float:
    """Returns the least wall time of a run [s]."""
    times = []
    for _ in range(num_repeats):
        runner.reset()
        start = time.perf_counter()
        runner.advance(runner.num_steps)
        times.append(time.perf_counter() - start)
    return min(times)


def _count(scene: BenchScene, batch: Batch, controls: np.ndarray) -> tuple[float, float]:
    """Returns the mean numbers of contacts and of iterations of a step."""
    contacts, iterations = batch.bind("contacts"), batch.bind("iterations")
    counts: list[tuple[float, float]] = []
    _make_runner(scene, batch, controls).reset()
    _advance(
        batch,
        controls,
        _count_steps(scene),
        lambda: counts.append((len(contacts) / batch.nsim, float(iterations.mean()))),
    )
    return mean(n for n, _ in counts), mean(n for _, n in counts)


def _find_share_of_certificate(
    scene: BenchScene, contact_model: str, controls: np.ndarray
) -> float:
    """Returns the median share of the certificate in the wall time of a step."""
    simulator = scene.make_simulator(contact_model)
    draws = itertools.cycle(controls[:, 0])
    shares = []

    def drive(data: mujoco.MjData) -> None:
        data.ctrl[:] = next(draws)

    def add(step: Step) -> None:
        timings = step.report.timings
        shares.append(timings.certificate / timings.total)

    data = mujoco.MjData(scene.model)
    mujoco.mj_setState(scene.model, data, fmt.get_state(scene.model, scene.start), fmt.INTEGRATION)
    Run(simulator, data, _count_steps(scene), drive).to_end(add)
    return median(shares)
