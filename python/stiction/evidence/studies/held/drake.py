"""Holds bodies in Drake with its default settings, if it is installed."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from stiction.evidence.engines import drake_peer
from stiction.evidence.engines.drake_model import Scheme
from stiction.evidence.studies.held.drake_patches import DrakePatches
from stiction.evidence.studies.held.drake_points import DrakePoints
from stiction.evidence.studies.held.peers import Measure, Peer
from stiction.evidence.studies.held.scenes import HeldScene, Vector

APPROXIMATIONS: tuple[Scheme, ...] = ("sap", "lagged")


class _Held(Protocol):
    """A scene in Drake."""

    def advance(self, time: float) -> None:
        """Takes steps until a time [s]; raises RuntimeError if Drake's solver fails."""

    def find_place(self) -> Vector:
        """Returns the place of the held body in the frame of its holder [m]."""


@contextmanager
def _start() -> Iterator[Mapping[str, Measure]]:
    yield {
        f"Drake, {name}": functools.partial(measure_creep, approximation=name)
        for name in APPROXIMATIONS
    }


PEER = Peer("Drake", "pip install drake", drake_peer.is_installed, _start)


def measure_creep(scene: HeldScene, time_step: float, approximation: Scheme) -> float | None:
    """Returns the speed of the held body [m/s], as stiction.evidence.studies.held.run does.

    Args:
        scene: the scene.
        time_step: [s].
        approximation: Drake's discrete contact approximation.

    Returns:
        The speed; None if a step failed.
    """
    kind = DrakePatches if scene.has_patches else DrakePoints
    held: _Held = kind(scene, approximation, time_step)
    try:
        held.advance(scene.settle)
        start = held.find_place()
        held.advance(scene.settle + scene.duration)
    except RuntimeError:
        return None
    speed = float(np.linalg.norm(held.find_place() - start)) / scene.duration
    return speed if math.isfinite(speed) else None
