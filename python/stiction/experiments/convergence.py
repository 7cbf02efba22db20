"""Errors of trajectories against a reference, and the order at which they fall with the step.

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
    """Root mean square over time of the distance of two trajectories.

    Args:
        time, values: (n,) and (n, k).
        reference_time, reference: (m,) and (m, k); its times hold all of `time`.

    Raises:
        Error: a time that the reference does not have. It is not interpolated: what is measured
            would then be the interpolation where the two are close.
    """
    spacing = reference_time[1] - reference_time[0]
    index = np.rint(time / spacing).astype(int)
    if index.max() >= len(reference_time) or not np.allclose(
        reference_time[index], time, rtol=0, atol=1e-6 * spacing
    ):
        raise Error(
            "wrong_shape", "time", f"the reference has no samples at all of the {len(time)} times"
        )
    difference = np.asarray(values) - np.asarray(reference)[index]
    return float(np.sqrt(np.mean(np.sum(difference**2, axis=-1))))


def calc_order(errors: Mapping[float, float]) -> float:
    """The slope of log(error) over log(step), by least squares over all steps given.

    Args:
        errors: of each step size; at least two, all above 0.
    """
    steps, values = np.log(list(errors)), np.log(list(errors.values()))
    return float(np.polyfit(steps, values, 1)[0])


def calc_last_order(errors: Mapping[float, float]) -> float:
    """The slope between the two smallest steps."""
    smallest = sorted(errors)[:2]
    return calc_order({step: errors[step] for step in smallest})
