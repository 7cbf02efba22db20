"""Errors of trajectories relative to a reference, and their order of convergence.

Source: [castro2023] section IX, with the norm of [theory:error-norm],

    e(dt) = sqrt( (1/T) int_0^T |q_dt - q_ref|^2 dt ),

sampled at the steps of the coarse trajectory.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from stiction.errors import Error

Vector = NDArray[np.float64]


def calc_rms_error(
    time: Vector, values: Vector, reference_time: Vector, reference: Vector
) -> float:
    """Returns the distance of two trajectories, (n, k) and (m, k), as the root mean square over
    time. The times of the reference must be evenly spaced and include all others. It is not
    interpolated: for close trajectories, the error of the interpolation would dominate."""
    spacing = reference_time[1] - reference_time[0]
    index = np.rint(time / spacing).astype(int)
    if index.max() >= len(reference_time) or not np.allclose(
        reference_time[index], time, rtol=0, atol=1e-6 * spacing
    ):
        raise Error(
            "wrong_shape", "time", f"the reference lacks samples at some of the {len(time)} times"
        )
    difference = np.asarray(values) - np.asarray(reference)[index]
    return float(np.sqrt(np.mean(np.sum(difference**2, axis=-1))))


def calc_order(errors: Mapping[float, float]) -> float:
    """Returns the order of convergence, the slope of log(error) over log(step) by least squares."""
    steps, values = np.log(list(errors)), np.log(list(errors.values()))
    return float(np.polyfit(steps, values, 1)[0])


def calc_last_order(errors: Mapping[float, float]) -> float:
    """Returns the order of convergence between the two smallest steps."""
    smallest = sorted(errors)[:2]
    return calc_order({step: errors[step] for step in smallest})
