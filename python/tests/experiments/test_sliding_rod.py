"""Tests the measurements of a run of the sliding rod."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stiction.evidence.experiments.planar import run_planar
from stiction.evidence.experiments.sliding_rod import CASES, measure_jam

ROD = CASES["without"].body


def test_the_jam_is_where_the_force_is_largest() -> None:
    run = run_planar(ROD, "lagged", 1e-3, 0.02, np.array([0, 1, 0.5]), np.zeros(3))
    run.normal_force[:] = 0.0
    run.normal_force[10:13] = [5, 70, 5]
    run.slip_velocity[:] = 1.0
    run.slip_velocity[11:14] = 1e-3
    jam = measure_jam(run)
    assert (jam["force"], jam["time"]) == pytest.approx((70, 11e-3))
    assert jam["stiction"] == pytest.approx(2e-3)  # one of three sticking samples has no load
    assert jam["angle_deg"] == pytest.approx(-math.degrees(0.5), abs=1)
