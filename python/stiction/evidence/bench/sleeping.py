"""`stiction bench clutter --sleep`: times piles that have settled, with sleep allowed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

import stiction
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf, make_properties
from stiction.setup.options import DEFAULTS

TOLERANCES = (1e-3, 2e-2)  # sleep_tolerance, MuJoCo's default first [m/s]

# Rolling friction of the spheres [m]. Without it some of them roll between the walls for a minute.
_ROLLING_FRICTION = 0.002
_DROP_STEPS = 1_000
_SETTLE_STEPS = 10_000  # at most, with Stiction
_MUJOCO_SETTLE_STEPS = 1_000  # of mj_step with sleep, from Stiction's settled state
_WARM_STEPS = 50
_TIMED_STEPS = 200


@dataclass(frozen=True)
class SleepCase:
    """The result for one pile. All times are CPU times of single calls of one step [us].

    sleep_tolerance: of the model [m/s].
    asleep, mujoco_asleep: number of bodies that sleep in the timed steps.
    us_per_step, us_per_step_awake: Stiction with sleep and without it.
    mujoco_us_per_step, mujoco_us_per_step_sleep: mj_step without sleep and with it. The latter
        starts from Stiction's settled state and had 2 s to put bodies to sleep.
    ratio_to_mujoco, ratio_to_mujoco_sleep: us_per_step relative to each of these.
    sleep_bound: largest Certificate.sleep_bound of the timed steps [sqrt(J)].
    """

    bodies: int
    sleep_tolerance: float
    asleep: int
    us_per_step: float
    us_per_step_awake: float
    mujoco_us_per_step: float
    mujoco_us_per_step_sleep: float
    mujoco_asleep: int
    ratio_to_mujoco: float
    ratio_to_mujoco_sleep: float
    sleep_bound: float


def run_sleeping(
    sizes: Iterable[int],
    contact_model: str = DEFAULTS["contact_model"],
    *,
    tolerance: float = DEFAULTS["tolerance"],
    num_repeats: int = 5,
    sleep_tolerances: Iterable[float] = TOLERANCES,
    settle_steps: int = _SETTLE_STEPS,
) -> list[SleepCase]:
    """Times the piles.

    Args:
        sizes: numbers of bodies, each 10 times a square number.
        contact_model, tolerance: as in Simulator.
        num_repeats: number of runs of each stepper.
        sleep_tolerances: of the model [m/s]; each size is run with each of them.
        settle_steps: largest number of steps in which the pile settles.

    Raises:
        Error: a size is not allowed.
    """
    solver = (contact_model, tolerance)
    cases = itertools.product(sizes, sleep_tolerances)
    return [_run_case(n, slow, solver, num_repeats, settle_steps) for n, slow in cases]


def _run_case(
    num_bodies: int,
    sleep_tolerance: float,
    solver: tuple[str, float],
    num_repeats: int,
    settle_steps: int,
) -> SleepCase:
    mjcf = make_mjcf(make_clutter(num_bodies), rolling_friction=_ROLLING_FRICTION)
    awake, sleepy = (mujoco.MjModel.from_xml_string(mjcf) for _ in range(2))
    sleepy.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    sleepy.opt.sleep_tolerance = sleep_tolerance
    # The pile falls under mj_step, as that of run_clutter, and settles under Stiction.
    dropped = mujoco.MjData(awake)
    mujoco.mj_step(awake, dropped, _DROP_STEPS)
    settled = _copy_state(sleepy, dropped)
    ours = _make_simulator(sleepy, *solver)
    while settled.ntree_awake > 0 and settle_steps > 0:
        ours.step(settled, min(100, settle_steps))
        settle_steps -= 100

    without = _copy_state(awake, settled)
    theirs = _copy_state(awake, settled)
    theirs_asleep = _copy_state(sleepy, settled)
    mujoco.mj_step(sleepy, theirs_asleep, _MUJOCO_SETTLE_STEPS)
    ours_awake = _make_simulator(awake, *solver)
    times = time_in_turns(
        {
            "ours": _make_runner(lambda: ours.step(settled)),
            "ours_awake": _make_runner(lambda: ours_awake.step(without)),
            "mujoco": _make_runner(lambda: mujoco.mj_step(awake, theirs)),
            "mujoco_sleep": _make_runner(lambda: mujoco.mj_step(sleepy, theirs_asleep)),
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
        mujoco_asleep=sleepy.ntree - theirs_asleep.ntree_awake,
        ratio_to_mujoco=us["ours"] / us["mujoco"],
        ratio_to_mujoco_sleep=us["ours"] / us["mujoco_sleep"],
        sleep_bound=report.certificate.sleep_bound,
    )


def _make_simulator(
    model: mujoco.MjModel, contact_model: str, tolerance: float
) -> stiction.Simulator:
    with ignored_settings_are_fine():
        return stiction.Simulator(
            model, contact_model, properties=make_properties(), tolerance=tolerance
        )


def _copy_state(model: mujoco.MjModel, start: mujoco.MjData) -> mujoco.MjData:
    """Returns data in the same positions and velocities, in which all bodies are awake."""
    data = mujoco.MjData(model)
    np.copyto(data.qpos, start.qpos)
    np.copyto(data.qvel, start.qvel)
    return data


def _make_runner(step: Callable[[], object]) -> Runner:
    """Makes a runner that goes on, because a state that is restored is awake."""

    def advance(n: int) -> None:
        for _ in range(n):
            step()

    advance(_WARM_STEPS)
    return Runner(lambda: None, advance, _TIMED_STEPS)
