"""Other simulators that hold the same bodies, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from stiction.evidence.studies.held.run import find_time_step
from stiction.evidence.studies.held.scenes import HeldScene
from stiction.evidence.studies.study import Settings, StudyResult

Creep = dict[str, dict[str, float | None]]  # [m/s], by scene and variant
Measure = Callable[[HeldScene, float], float | None]
"""Returns the creep in a scene at a time step, or None if a step failed. Raises RefusedError."""


class RefusedError(Exception):
    """A simulator cannot run a scene. The text says why."""


@dataclass(frozen=True)
class Peer:
    """A simulator.

    name: its name in notes.
    command: installs it.
    is_installed: returns True if it can be started.
    start: starts it; gives its rows, and ends it.
    """

    name: str
    command: str
    is_installed: Callable[[], bool]
    start: Callable[[], AbstractContextManager[Mapping[str, Measure]]]


def add_peers(
    peers: Iterable[Peer],
    held: Iterable[HeldScene],
    creep: Creep,
    result: StudyResult,
    settings: Settings,
) -> None:
    """Adds the creep of each simulator in each scene, and notes on what was not run.

    Args:
        peers: the simulators.
        held: the scenes.
        creep: gets the rows.
        result: gets the notes.
        settings: those of the study.
    """
    scenes = list(held)
    for peer in peers:
        if not peer.is_installed():
            result.notes.append(
                f"not compared with {peer.name}, which is not installed; run {peer.command}"
            )
            continue
        with peer.start() as rows:
            for scene in scenes:
                _add_rows(rows, scene, creep[scene.name], result, settings)


def _add_rows(
    rows: Mapping[str, Measure],
    scene: HeldScene,
    creep: dict[str, float | None],
    result: StudyResult,
    settings: Settings,
) -> None:
    for name, measure in rows.items():
        settings.tell(f"{scene.name}, {name}")
        try:
            creep[name] = measure(scene, find_time_step(scene))
        except RefusedError as e:
            result.notes.append(f"{scene.name}: not run in {name}: {e}")
