"""Tests the multi-block grasp: its contacts, Jacobian rows and steps."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from stiction import lcp
from stiction.evidence.studies.grasp.run import run_coulomb, run_model, run_no_slip
from stiction.evidence.studies.grasp.scene import (
    CANONICAL,
    CASES,
    PUBLISHED,
    calc_rotation,
    find_contacts,
    make_coulomb_lcp,
    make_joint_rows,
    make_no_slip_lcp,
    make_row,
    make_start,
)

REFERENCE = Path(__file__).parents[4] / "shared/reference/rigid/grasp_scene.json"


def test_small_rotations_agree_with_angular_velocities() -> None:
    angle, x = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, 3.0])
    R = calc_rotation(angle)
    assert np.allclose(R @ R.T, np.eye(3)) and np.allclose(R @ angle, angle)
    change = (calc_rotation(1e-7 * angle) @ x - x) / 1e-7
    assert np.allclose(change, np.cross(angle, x), atol=1e-6)


@pytest.mark.parametrize(
    ("case", "count"),
    [(CASES[0], 36), (CASES[1], 36), (CASES[2], 36), (CASES[3], 48), (PUBLISHED, 36)],
)
def test_the_number_of_contacts_is_the_published_one(case, count) -> None:  # type: ignore[no-untyped-def]
    contacts = find_contacts(case, make_start(case))
    assert len(contacts) == count
    assert np.allclose(contacts.gap, 0, atol=1e-15)
    assert np.allclose(np.abs([n[0] for n in contacts.normal]), 1)


@pytest.mark.skipif(not REFERENCE.exists(), reason="needs ../shared/reference")
def test_contacts_are_the_published_ones() -> None:
    listed = json.loads(REFERENCE.read_text())["contacts"]
    ids = {"gripper1": 0, "gripper2": 1, "block1": 2, "block2": 3}
    contacts = find_contacts(CANONICAL, make_start(CANONICAL))
    ours = Counter(
        (bodies, tuple(np.round([*point, *normal], 9)))
        for bodies, point, normal in zip(
            contacts.bodies, contacts.point, contacts.normal, strict=True
        )
    )
    theirs = Counter(
        ((ids[c["body1"]], ids[c["body2"]]), (*c["point"], *c["normal"])) for c in listed
    )
    assert ours == theirs


def test_rows_are_relative_velocities() -> None:
    state = make_start(CANONICAL)
    v = np.zeros((4, 6))
    v[0], v[1] = [1, 2, 3, 0.1, 0.2, 0.3], [4, 5, 6, -0.1, 0.4, 0.2]
    point, direction = np.array([0.02, 0.1, -0.3]), np.array([0.6, 0.0, 0.8])

    def at_point(body: int) -> np.ndarray:
        return v[body, :3] + np.cross(v[body, 3:], point - state.x[body])

    row = make_row(CANONICAL, state, 0, 1, point, direction)
    assert row @ v.ravel() == pytest.approx(direction @ (at_point(1) - at_point(0)))


def test_joints_allow_sliding_and_common_rotation() -> None:
    state = make_start(CANONICAL)
    rows = make_joint_rows(CANONICAL, state)
    assert np.linalg.matrix_rank(rows) == 5
    v = np.zeros((4, 6))
    v[0, 0] = 1  # along x
    assert np.allclose(rows @ v.ravel(), 0)
    v[:2] = [0, 0, 0, 0, 0, 1]  # both rotate about z, about the middle between them
    v[0, 1], v[1, 1] = state.x[0, 0], state.x[1, 0]
    assert np.allclose(rows @ v.ravel(), 0)


@pytest.mark.parametrize(("case", "pivots"), list(zip(CASES, (5, 3, 9, 8), strict=True)))
def test_the_number_of_pivots_is_the_rank_of_the_normals(case, pivots) -> None:  # type: ignore[no-untyped-def]
    run = run_no_slip(case, 30)
    assert run.pivots == [pivots] + [0] * 29
    assert run.positives == [pivots] * 30
    assert np.max(np.abs(run.drop)) < 1e-15 and max(run.residuals) < 1e-12
    problem = run.problems[0]
    assert np.linalg.matrix_rank(problem.N @ problem.N.T, tol=1e-10) == pivots


def test_all_solvers_find_the_same_velocities() -> None:
    state = make_start(CANONICAL)
    problem = make_no_slip_lcp(CANONICAL, state, find_contacts(CANONICAL, state))
    zeros = np.zeros(len(problem.N))
    expected = lcp.solve_gram(problem.N, zeros, problem.u_hat).w
    for solver in ("ppm", "lemke"):
        result = lcp.solve_gram(problem.N, zeros, problem.u_hat, solver=solver)
        assert result.status == "solved"
        assert np.allclose(result.w, expected, atol=1e-9)
    Q, r = problem.N @ problem.N.T, problem.N @ problem.u_hat
    assert np.allclose(lcp.solve(Q, r).w, expected, atol=1e-12)


def test_coulomb_holds_the_row_only_with_friction() -> None:
    fall = 0.5 * 9.81 * 1e-6 * 20 * 21
    sticking = run_coulomb(CANONICAL, 20, 1.0)
    # The LCP has several solutions, and in some of them a corner slips. Which one is found depends on
    # the last bits of Q, and so on the BLAS library of the machine.
    assert not sticking.unsolved and abs(sticking.drop[-1]) < 0.01 * fall
    free = run_coulomb(CANONICAL, 20, 0.0)
    assert not free.unsolved
    assert free.drop[-1] == pytest.approx(fall)
    state = make_start(CANONICAL)
    contacts = find_contacts(CANONICAL, state)
    assert make_coulomb_lcp(CANONICAL, state, contacts, 1.0).Q.shape == (216, 216)


def test_the_scene_holds_without_slip_and_creeps_under_regularized_friction() -> None:
    rigid, soft = run_model("no_slip", 50), run_model("lagged", 50)
    assert rigid.failure is None and np.max(np.abs(rigid.drop)) < 1e-12
    assert soft.failure is None and np.max(np.abs(soft.drop)) > 1e-9
