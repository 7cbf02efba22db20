"""Holds bodies in Newton's solver Steel, whose contacts have anchors, if it is installed."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import mujoco
import numpy as np

from stiction.evidence.engines.environments import ENVIRONMENTS, FOLDER
from stiction.evidence.engines.newton_settings import STEEL
from stiction.evidence.engines.process import WorkerProcess
from stiction.evidence.engines.trajectory import Trajectory
from stiction.evidence.engines.world import to_plain
from stiction.evidence.studies.held.peers import Measure, Peer, RefusedError
from stiction.evidence.studies.held.scenes import HeldScene, Vector
from stiction.evidence.studies.held.worlds import make_forces, make_world, name_body

_ENVIRONMENT = ENVIRONMENTS["newton"]
_MAX_SECONDS = 600.0  # of a run; the first compiles Newton's kernels


def is_installed() -> bool:
    """True if Newton's environment exists."""
    return _ENVIRONMENT.is_installed(FOLDER)


@contextmanager
def start_worker() -> Iterator[WorkerProcess]:
    """Starts a process with Newton, and ends it."""
    worker = WorkerProcess(_ENVIRONMENT, FOLDER)
    try:
        yield worker
    finally:
        worker.end()


@contextmanager
def _start() -> Iterator[Mapping[str, Measure]]:
    with start_worker() as worker:
        yield {"Newton, Steel": functools.partial(measure_creep, worker=worker)}


PEER = Peer("Newton", "stiction scorecard --install newton", is_installed, _start)


def measure_creep(scene: HeldScene, time_step: float, worker: WorkerProcess) -> float | None:
    """Returns the speed of the held body [m/s], as stiction.evidence.studies.held.run does.

    Newton's numbers are single, so a place has a rounding of 1e-8 m.

    Returns:
        The speed; None if Newton stopped.

    Raises:
        RefusedError: Newton cannot run the scene.
    """
    num_steps = round((scene.settle + scene.duration) / time_step)
    with tempfile.TemporaryDirectory() as folder:
        out, forces = Path(folder) / "run", Path(folder) / "forces.npy"
        np.save(forces, make_forces(scene, time_step, num_steps))
        task = {
            "adapter": "newton",
            "settings": {
                "solver": "steel",
                "options": STEEL,
                "has_pressure_fields": scene.has_patches,
            },
            "world": to_plain(make_world(scene)),
            "time_step": time_step,
            "num_steps": num_steps,
            "forces": str(forces),
            "out": str(out),
        }
        answer = worker.ask(task, _MAX_SECONDS)
        if answer is None or "error" in answer:
            return None
        refusal = json.loads(out.with_suffix(".json").read_text()).get("refused")
        if refusal is not None:
            raise RefusedError(refusal)
        trajectory = Trajectory.load(out.with_suffix(".npz"))
    return calc_creep(scene, trajectory)


def calc_creep(scene: HeldScene, trajectory: Trajectory) -> float | None:
    """Returns the speed of the held body [m/s]; None if the run ended early."""
    end = scene.settle + scene.duration
    if not trajectory.is_finite() or trajectory.time[-1] < end - 1e-9:
        return None
    start, last = (_find_place(scene, trajectory, time) for time in (scene.settle, end))
    return float(np.linalg.norm(last - start)) / scene.duration


def _find_place(scene: HeldScene, trajectory: Trajectory, time: float) -> Vector:
    """Returns the place of the held body in the frame of its holder at the nearest sample [m]."""
    sample = int(np.abs(trajectory.time - time).argmin())
    held = trajectory.pos[sample, trajectory.find(scene.held)]
    holder = scene.model.body(scene.holder).id
    if holder == 0:
        return np.array(held)
    body = trajectory.find(name_body(scene.model, holder))
    place, turned_back = np.zeros(3), np.zeros(4)
    mujoco.mju_negQuat(turned_back, trajectory.quat[sample, body])
    mujoco.mju_rotVecQuat(place, held - trajectory.pos[sample, body], turned_back)
    return place
