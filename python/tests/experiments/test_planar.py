"""Tests a planar body against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from stiction.evidence.experiments.planar import PlanarBody, run_planar

BALL = PlanarBody(
    mass=2.0,
    inertia=0.01,
    spheres=((0.0, 0.0, 0.1),),
    friction=0.3,
    stiffness=1e5,
    dissipation=0.0,
    relaxation_time=0.0,
)
STICKING = {"sap", "lagged", "lagged_regularized", "similar"}


@pytest.mark.parametrize("contact_model", sorted(STICKING))
def test_a_planar_body_rests_on_its_spring(contact_model: str) -> None:
    sag = BALL.mass * 9.81 / BALL.stiffness
    run = run_planar(BALL, contact_model, 1e-3, 0.05, np.array([0, 0.1 - sag, 0]), np.zeros(3))
    assert run.z == pytest.approx(0.1 - sag, abs=1e-9)
    assert run.normal_force[1:] == pytest.approx(BALL.mass * 9.81)
    assert run.status == {}


@pytest.mark.parametrize("speed", [-1.0, 1.0])
def test_friction_of_a_planar_body_opposes_its_slip(speed: float) -> None:
    sag = BALL.mass * 9.81 / BALL.stiffness
    run = run_planar(
        BALL, "lagged", 1e-4, 0.02, np.array([0, 0.1 - sag, 0]), np.array([speed, 0, 0])
    )
    assert run.friction_force[1:] == pytest.approx(-np.sign(speed) * 0.3 * 2 * 9.81, rel=1e-3)
    assert np.sign(run.slip_velocity[1:]) == pytest.approx(np.sign(speed))
    # Counterclockwise is positive, and friction to the left turns the body clockwise.
    assert np.sign(run.v[-1, 2]) == -np.sign(speed)


def test_a_stride_samples_every_nth_step() -> None:
    q0, v0 = np.array([0, 0.2, 0]), np.zeros(3)
    every = run_planar(BALL, "lagged", 1e-3, 0.04, q0, v0)
    some = run_planar(BALL, "lagged", 1e-3, 0.04, q0, v0, stride=4)
    assert some.time == pytest.approx(every.time[::4])
    assert np.array_equal(some.q, every.q[::4])
