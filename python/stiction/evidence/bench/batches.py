"""`stiction bench batch`: times stiction.Batch against mujoco.batch.Batch on the same controls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

import mujoco
import mujoco.batch
import numpy as np

from stiction.batch import Batch
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.bench.scenes import load
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf, make_properties
from stiction.recording import format as fmt
from stiction.setup.options import DEFAULTS
from stiction.setup.properties import PropertiesLike
from stiction.simulator import Simulator

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
    """The result for one scene.

    Times are CPU times per step of one simulation on one thread [us]. `speed` is the number of steps
    per second of Stiction's batch over that of MuJoCo's: above 1, Stiction is faster.

    contacts, iterations: means over simulations and steps of the last repeat.
    certificate: share of the certificate in a step's time, from the timings of a Simulator [-].
    efficiency: wall time on one thread over twice that on two threads [-]; minimum of the repeats each.
    """

    scene: str
    dofs: int
    contacts: float
    iterations: float
    us_per_step: float
    us_per_step_median: float
    mujoco_us_per_step: float
    mujoco_us_per_step_median: float
    speed: float
    certificate: float
    efficiency: float


def run_batch(
    name: str,
    contact_model: str = DEFAULTS["contact_model"],
    *,
    num_sims: int = _NUM_SIMS,
    num_repeats: int = 5,
) -> BatchCase:
    """Times both batches of one scene, from its first keyframe or its reset, under random controls.

    MuJoCo's batch steps robots with `implicitfast`, as it does best. Forces are then evaluated once
    per step in both. The pile starts from the state 2 s after its drop, with the settings of `bench
    clutter`.

    Args:
        name: a scene file, a name in experiments/real_scenes.py, or PILE.
        contact_model: as in Simulator.
        num_sims: number of simulations.
        num_repeats: number of runs of each batch; they take turns.
    """
    start = _make_start(name)
    model = start.model
    controls = _make_controls(model, num_sims)
    with ignored_settings_are_fine():
        ours = {
            n: Batch(model, num_sims, n, contact_model=contact_model, properties=start.properties)
            for n in (1, 2)
        }
    peer = mujoco.batch.Batch(model, num_sims, 1)
    runners = {
        "stiction": start.make_runner(ours[1], controls),
        "mujoco": start.make_runner(peer, controls),
    }
    times = time_in_turns(runners, num_repeats)
    us, mj = times["stiction"], times["mujoco"]
    walls = {
        n: _time_wall(start.make_runner(batch, controls), num_repeats) for n, batch in ours.items()
    }
    contacts, iterations = _count(start, ours[1], controls)
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
        certificate=_find_share_of_certificate(start, contact_model, controls),
        efficiency=walls[1] / (2 * walls[2]),
    )


@dataclass(frozen=True)
class _Start:
    """A model, and the state from which its simulations start."""

    model: mujoco.MjModel
    properties: PropertiesLike
    state: np.ndarray

    def make_runner(self, batch: mujoco.batch.Batch, controls: np.ndarray) -> Runner:
        def reset() -> None:
            batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE.value)
            batch.state[:] = self.state
            _advance(batch, controls, _NUM_SETTLE_STEPS)

        num_steps = self.count_steps() * batch.nsim
        return Runner(reset, lambda n: _advance(batch, controls, n // batch.nsim), num_steps)

    def count_steps(self) -> int:
        """Returns the number of steps that each simulation takes."""
        return max(10, min(_NUM_STEPS, _NUM_DOF_STEPS // int(self.model.nv)))


def _make_start(name: str) -> _Start:
    if name == PILE:
        model = mujoco.MjModel.from_xml_string(make_mjcf(make_clutter(160)))
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 1000)
        return _Start(model, make_properties(), fmt.get_state(model, data))
    model = load(name).model
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    return _Start(model, None, fmt.get_state(model, data))


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


def _count(start: _Start, batch: Batch, controls: np.ndarray) -> tuple[float, float]:
    """Returns the mean numbers of contacts and of iterations of a step."""
    contacts, iterations = batch.bind("contacts"), batch.bind("iterations")
    counts: list[tuple[float, float]] = []
    start.make_runner(batch, controls).reset()
    _advance(
        batch,
        controls,
        start.count_steps(),
        lambda: counts.append((len(contacts) / batch.nsim, float(iterations.mean()))),
    )
    return mean(n for n, _ in counts), mean(n for _, n in counts)


def _find_share_of_certificate(start: _Start, contact_model: str, controls: np.ndarray) -> float:
    """Returns the median share of the certificate in the wall time of a step."""
    with ignored_settings_are_fine():
        simulator = Simulator(start.model, contact_model, properties=start.properties)
    data = mujoco.MjData(start.model)
    mujoco.mj_setState(start.model, data, start.state, fmt.INTEGRATION)
    shares = []
    for k in range(start.count_steps()):
        data.ctrl[:] = controls[k % len(controls), 0]
        timings = simulator.step(data).timings
        shares.append(timings.certificate / timings.total)
    return median(shares)
