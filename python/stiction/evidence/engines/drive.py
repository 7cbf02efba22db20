"""Runs an engine through a scene, and measures its CPU time."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from stiction.evidence.engines.world import Trajectory, Vector, World

State = tuple[Vector, Vector, Vector, Vector]  # pos, quat, velocity, spin of all bodies


class StoppedError(Exception):
    """The engine refused a scene or could not go on with a step."""


class Adapter(Protocol):
    """An engine that has built a world. It is made as Adapter(world, time_step, settings)."""

    def step(self, forces: Vector) -> None:
        """Takes a step with forces on the centers of mass [N], (bodies, 3). Raises StoppedError
        if the engine reports that the step failed."""

    def read(self) -> State:
        """Returns positions, quaternions, velocities and spins of all bodies, in the world's order."""

    def take_messages(self) -> list[str]:
        """Returns the warnings and statuses of the last step that a user can see."""


@dataclass(frozen=True)
class RunData:
    """The result of a run."""

    trajectory: Trajectory  # the samples, at most about max_samples
    cpu_seconds: float  # CPU time of all steps [s]
    num_steps: int  # number of steps taken
    messages: dict[str, int]  # messages and how often each came
    stopped: str  # why the run ended early, or ""
    digest: str  # hash of all bits of all states


def drive(
    adapter: Adapter,
    world: World,
    time_step: float,
    num_steps: int,
    force_table: Vector | None = None,
    max_samples: int = 2000,
) -> RunData:
    """Steps an adapter from the world's start, with its forces or those of a table, (num_steps,
    bodies, 3) [N]. Raises StoppedError if the engine has built another start."""
    constant = np.array([body.force for body in world.bodies], dtype=np.float64).reshape(-1, 3)
    every = max(1, -(-num_steps // max_samples))
    digest = hashlib.sha256()
    messages: Counter[str] = Counter()
    samples: list[tuple[float, State]] = [(0.0, _copy(adapter.read()))]
    check_start(world, samples[0][1])
    cpu, taken, stopped = 0.0, 0, ""
    for i in range(num_steps):
        forces = constant if force_table is None else force_table[i]
        start = time.process_time()
        try:
            adapter.step(forces)
        except StoppedError as e:
            stopped = str(e)
        cpu += time.process_time() - start
        messages.update(adapter.take_messages())
        if stopped:
            break
        taken += 1
        state = _copy(adapter.read())
        for array in state:
            digest.update(array.tobytes())
        if not all(np.isfinite(array).all() for array in state):
            stopped = "the state is not finite"
            break
        if taken % every == 0 or taken == num_steps:
            samples.append((taken * time_step, state))
    names = tuple(body.name for body in world.bodies)
    columns: Any = [np.array([state[k] for _, state in samples]) for k in range(4)]
    trajectory = Trajectory(names, np.array([t for t, _ in samples]), *columns)
    return RunData(trajectory, cpu, taken, dict(messages), stopped, digest.hexdigest())


def check_start(world: World, state: State) -> None:
    """Checks that an engine has built the start of a world, within the digits of single numbers."""
    for i, body in enumerate(world.bodies):
        faults = [("position", np.abs(state[0][i] - np.array(body.pos)).max(), 1e-5)]
        if body.joint is None:
            faults.append(("velocity", np.abs(state[2][i] - np.array(body.velocity)).max(), 1e-4))
            faults.append(("spin", np.abs(state[3][i] - np.array(body.spin)).max(), 1e-4))
        for what, difference, limit in faults:
            if not difference <= limit:
                raise StoppedError(
                    f"the adapter has built another start: the {what} of {body.name} differs by "
                    f"{difference:.3g}"
                )


def _copy(state: State) -> State:
    pos, quat, velocity, spin = (np.array(a, dtype=np.float64) for a in state)
    return pos, quat, velocity, spin
