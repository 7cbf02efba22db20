"""`stiction bench clutter`: times a pile of bodies against mj_step and Drake's SAP."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import stiction
from stiction.errors import Error, ignored_settings_are_fine
from stiction.evidence.bench.mujoco_runners import make_mujoco_runner, make_stiction_runner
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.engines import drake_clutter, drake_peer
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf, make_properties
from stiction.setup.options import DEFAULTS

SIZES = (40, 160, 640)

_SETTLE_STEPS = 20  # untimed steps of each stepper from the common state
_DROP_STEPS = 1000  # steps of mj_step from the drop to the common state, if none is given
_TIMED_BODY_STEPS = 16_000  # number of bodies times number of steps of a repeat
_DRAKE_BODY_STEPS = 3_200  # the same for Drake
_DRAKE_SETTLE_STEPS = 5


@dataclass(frozen=True)
class ClutterCase:
    """The result for one pile.

    Times are CPU times per step [us]. A ratio is Stiction's minimum divided by the peer's: below 1,
    Stiction is faster. Drake's values are None if it is not installed.

    bodies, contacts: number of bodies, and mean number of contacts.
    start: the file of the common state, or 'mj_step' if mj_step made it from the drop.
    iterations: Newton iterations per step, summed over islands, mean of the steps.
    max_iterations: largest number of iterations of an island.
    residual: largest relative residual [-].
    stages_us: median wall time of each stage of the step [us].
    """

    bodies: int
    start: str
    contacts: int
    us_per_step: float
    us_per_step_median: float
    mujoco_us_per_step: float
    mujoco_us_per_step_median: float
    ratio_to_mujoco: float
    drake_sap_us_per_step: float | None
    ratio_to_drake_sap: float | None
    times_faster_than_drake_sap: float | None
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
    """Times the piles.

    Args:
        sizes: numbers of bodies, each 10 times a square number.
        contact_model, tolerance, num_threads: as in Simulator.
        num_repeats: number of runs of each stepper.
        states: folder with common states, state_<bodies>_t2.npz with qpos and qvel. Other sizes
            start from the state that mj_step reaches 2 s after the drop.
        with_drake: whether to time Drake; None means if it is installed.

    Raises:
        Error: a size is not allowed, or a file of states does not fit.
    """
    if with_drake is None:
        with_drake = drake_peer.is_installed()
    solver = {"tolerance": tolerance, "num_threads": num_threads}
    return [_run_case(n, contact_model, solver, num_repeats, states, with_drake) for n in sizes]


def _run_case(
    num_bodies: int,
    contact_model: str,
    solver: dict[str, Any],
    num_repeats: int,
    states: Path | None,
    with_drake: bool,
) -> ClutterCase:
    scene = make_clutter(num_bodies)
    model = mujoco.MjModel.from_xml_string(make_mjcf(scene))
    path = states / f"state_{num_bodies}_t2.npz" if states else None
    path = path if path and path.is_file() else None
    start = _make_start(model, path)
    num_steps = max(_TIMED_BODY_STEPS // num_bodies, 10)
    with ignored_settings_are_fine():
        simulator = stiction.Simulator(model, contact_model, properties=make_properties(), **solver)
    ours, summary = make_stiction_runner(simulator, start, _SETTLE_STEPS, num_steps)
    runners = {
        "stiction": ours,
        "mujoco": make_mujoco_runner(model, start, _SETTLE_STEPS, num_steps),
    }
    if with_drake:
        runners["drake_sap"] = _make_drake_runner(num_bodies, start)
    times = time_in_turns(runners, num_repeats)
    us, peer, drake = times["stiction"], times["mujoco"], times.get("drake_sap")
    return ClutterCase(
        bodies=num_bodies,
        start=path.name if path else "mj_step",
        contacts=round(summary.contacts),
        us_per_step=us.minimum,
        us_per_step_median=us.median,
        mujoco_us_per_step=peer.minimum,
        mujoco_us_per_step_median=peer.median,
        ratio_to_mujoco=us.minimum / peer.minimum,
        drake_sap_us_per_step=drake.minimum if drake else None,
        ratio_to_drake_sap=us.minimum / drake.minimum if drake else None,
        times_faster_than_drake_sap=drake.minimum / us.minimum if drake else None,
        iterations=summary.iterations,
        max_iterations=summary.max_iterations,
        residual=summary.residual,
        stages_us=summary.stages_us,
    )


def _make_start(model: mujoco.MjModel, path: Path | None) -> mujoco.MjData:
    data = mujoco.MjData(model)
    if path is None:
        mujoco.mj_step(model, data, _DROP_STEPS)
        return data
    try:
        with np.load(path) as arrays:
            data.qpos[:] = arrays["qpos"]
            data.qvel[:] = arrays["qvel"]
    except (OSError, KeyError, ValueError) as e:
        raise Error("invalid_value", str(path), f"is not a state of this scene: {e}") from e
    return data


def _make_drake_runner(num_bodies: int, start: mujoco.MjData) -> Runner:
    peer = drake_clutter.DrakeClutter(make_clutter(num_bodies))
    peer.set_state(start.qpos, start.qvel)
    peer.advance(_DRAKE_SETTLE_STEPS)
    peer.mark()
    num_steps = max(_DRAKE_BODY_STEPS // num_bodies, 5)
    return Runner(peer.reset, peer.advance, num_steps)
