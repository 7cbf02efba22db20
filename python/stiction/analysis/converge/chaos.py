"""Finds out whether a scene is chaotic, from the growth of a small displacement.

In a chaotic scene, such as a pile that falls, a small displacement grows as exp(t / T_e). Errors of a
step grow as fast, so that no step follows one trajectory for long. Only the time until errors have
grown by a factor of a thousand is then judged.

A contact that opens or closes by a displacement changes a trajectory by a jump, once. In terms of the
displacement, a jump is the smaller the larger the displacement is, but chaos is not. So the smaller
growth of two displacements counts.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

DISPLACEMENTS = (1e-8, 1e-6)  # of the initial position [m]
_SAFE_GROWTH = 1e3  # the largest growth of a displacement that counts as no chaos [-]


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """The growth of a small displacement.

    Attributes:
        growth: largest distance of both runs over the displacement at the start [-].
        is_chaotic: True if it is above a thousand.
        folding_time: time in which a displacement grows by e [s]; None if it does not grow.
        horizon: number of samples until it has grown a thousandfold; all if it does not.
    """

    growth: float
    is_chaotic: bool
    folding_time: float | None
    horizon: int


def judge_sensitivity(distances: Sequence[Vector], sample_time: float) -> Sensitivity:
    """Judges the distances of a run from those that started with a displacement.

    Args:
        distances: for each displacement, the distances at each sample [m], (n,).
        sample_time: time between samples [s].
    """
    growths = [d / max(float(d[0]), 1e-300) for d in distances]
    growth = np.maximum.accumulate(np.min(growths, axis=0))
    largest = float(growth[-1])
    beyond = np.flatnonzero(growth > _SAFE_GROWTH)
    if len(beyond) == 0:
        return Sensitivity(largest, False, None, len(growth))
    horizon = max(int(beyond[0]), 1)
    folding_time = horizon * sample_time / math.log(float(growth[horizon]))
    return Sensitivity(largest, True, folding_time, horizon)


def make_displacement(levers: Vector, size: float) -> Vector:
    """Returns a displacement of all dofs by a size [m], with signs that are always the same, (nv,)."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(levers))
    return np.asarray(size * signs / levers)
