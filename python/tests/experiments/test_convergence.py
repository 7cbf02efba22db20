"""Tests errors and orders of convergence against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from stiction.errors import Error
from stiction.evidence.experiments.convergence import calc_last_order, calc_order, calc_rms_error


def test_rms_error_is_taken_at_the_coarse_samples() -> None:
    fine = np.linspace(0, 1, 101)
    coarse = fine[::10]
    reference = np.column_stack([fine, fine**2])
    values = np.column_stack([coarse + 0.3, coarse**2 - 0.4])
    assert calc_rms_error(coarse, values, fine, reference) == pytest.approx(0.5)


def test_rms_error_does_not_interpolate() -> None:
    fine = np.linspace(0, 1, 101)
    with pytest.raises(Error, match="lacks samples at some of the 3 times"):
        calc_rms_error(np.array([0, 0.5, 0.505]), np.zeros((3, 1)), fine, np.zeros((101, 1)))
    with pytest.raises(Error, match="lacks samples"):
        calc_rms_error(np.array([0, 0.5, 1.01]), np.zeros((3, 1)), fine, np.zeros((101, 1)))


def test_orders_of_powers_are_exact() -> None:
    errors = {h: 3 * h**1.5 for h in (1e-2, 1e-3, 1e-4)}
    assert calc_order(errors) == pytest.approx(1.5)
    # A constant error limits the smallest steps.
    plateau = {1e-2: 1e-2, 1e-3: 1e-3, 1e-4: 1e-3}
    assert calc_last_order(plateau) == pytest.approx(0, abs=1e-12)
