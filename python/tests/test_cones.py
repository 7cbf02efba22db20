"""stiction.cones is compared with the equations of the law and with FCLIB's friction problems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stiction import Error, cones

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "lcp"
PROBLEMS = {
    "Box_Stacks-i0122-82-5.hdf5": 82,
    "Chute-ndof-768-nc-4-3.hdf5": 4,
    "CubeH8.hdf5": 1,
    "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5": 60,
}
Problem = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # G, b, mu, u_hat
ReadFclib = Callable[[Path], dict[str, Any]]


def make_problem(data: dict[str, Any]) -> Problem:
    """Makes the rows of a problem from its mass matrix, or from its Delassus matrix."""
    if "M" in data:
        L = np.linalg.cholesky(data["M"])
        # Five rows per contact are those of rolling friction, of which the law has the first three.
        per_contact = data["w"].size // data["mu"].size
        rows = np.arange(data["w"].size) % per_contact < 3
        G = np.linalg.solve(L, data["H"]).T
        return G[rows], data["w"][rows], data["mu"], np.linalg.solve(L, data["f"])
    values, vectors = np.linalg.eigh((data["W"] + data["W"].T) / 2)
    is_used = values > 1e-14 * values.max()
    G = vectors[:, is_used] * np.sqrt(values[is_used])
    return G, data["q"], data["mu"], np.zeros(G.shape[1])


def project(mu: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Returns the nearest points of friction cones, one per row of x."""
    friction = np.linalg.norm(x[:, 1:], axis=1)
    normal = np.maximum(0, (x[:, 0] + mu * friction) / (1 + mu**2))
    scale = np.divide(mu * normal, friction, out=np.zeros_like(friction), where=friction > 0)
    on_surface = np.column_stack([normal, x[:, 1:] * scale[:, np.newaxis]])
    return np.where((friction <= mu * x[:, 0])[:, np.newaxis], x, on_surface)


def calc_natural_residual(problem: Problem, r: np.ndarray) -> float:
    """Returns the largest |r - P_K(r - s / m)| m, s = w + mu |w_t| n, relative to the free velocity."""
    G, b, mu, u_hat = problem
    w = (G @ (u_hat + G.T @ r.ravel()) + b).reshape(-1, 3)
    shifted = w.copy()
    shifted[:, 0] += mu * np.linalg.norm(w[:, 1:], axis=1)
    m = (G**2).sum(axis=1).reshape(-1, 3).mean(axis=1)[:, np.newaxis]
    difference = m * (r - project(mu, r - shifted / m))
    return float(np.abs(difference).max() / np.abs(G @ u_hat + b).max())


@pytest.mark.parametrize("name", PROBLEMS)
def test_fclib_problems_are_solved(name: str, read_fclib: ReadFclib) -> None:
    if not REFERENCE.is_dir():
        pytest.skip("needs ../shared/reference/lcp")
    problem = make_problem(read_fclib(REFERENCE / name))
    assert problem[2].size == PROBLEMS[name]
    result = cones.solve(*problem)
    assert result.is_solved, result
    assert calc_natural_residual(problem, result.r) <= 1e-10


@pytest.mark.parametrize("method", cones.cone_methods())
def test_random_problems_satisfy_the_law(method: str) -> None:
    rng = np.random.default_rng(1)
    num_solved = num_redundant = 0
    for _ in range(60):
        num_contacts, num_columns = (int(x) for x in rng.integers(1, 9, 2))
        b = np.zeros((num_contacts, 3))
        b[:, 0] = rng.uniform(0, 0.5, num_contacts)
        problem = (
            rng.normal(size=(3 * num_contacts, num_columns)),
            b.ravel(),
            rng.uniform(0, 1, num_contacts),
            rng.normal(size=num_columns),
        )
        result = cones.solve(*problem, method)
        num_solved += result.is_solved
        num_redundant += 3 * num_contacts > num_columns
        if result.is_solved:
            assert calc_natural_residual(problem, result.r) <= 1e-7
    assert num_solved == 60 or method != "hybrid"
    assert num_solved >= 45
    assert num_redundant >= 30


def make_rows(direction: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """Returns the row of a body's velocity and spin along a direction at the end of an arm."""
    return np.concatenate([direction, np.cross(arm, direction)])


def make_clutter(rng: np.random.Generator) -> Problem:
    """Makes bodies of many masses, whose contacts have random places, normals and gaps."""
    num_bodies, num_contacts = int(rng.integers(1, 10)), int(rng.integers(1, 31))
    places = rng.uniform(-0.2, 0.2, (num_bodies, 3))
    mass = 10 ** rng.uniform(-1, 1, num_bodies)
    G = np.zeros((num_contacts, 3, num_bodies, 6))
    for rows in G:
        a, b = int(rng.integers(num_bodies)), int(rng.integers(-1, num_bodies))
        n, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        point = places[a] - 0.05 * n[:, 0] + 0.03 * rng.normal(size=3)
        for row, direction in zip(rows, n.T, strict=True):
            row[a] = make_rows(direction, point - places[a])
            if b not in (-1, a):
                row[b] = -make_rows(direction, point - places[b])
    scale = np.sqrt(np.outer(mass, [1, 1, 1, 1 / 600, 1 / 600, 1 / 600]))
    gaps = np.zeros((num_contacts, 3))
    gaps[:, 0] = rng.choice([0, 0, 0.01, 0.1], num_contacts)
    mu = rng.choice([0, 0.3, 0.7, 1.2], num_contacts)
    v = rng.normal(size=(num_bodies, 6)) * [1, 1, 1, 3, 3, 3]
    return (G / scale).reshape(3 * num_contacts, -1), gaps.ravel(), mu, (v * scale).ravel()


def test_the_hybrid_solves_what_its_parts_do_not() -> None:
    rng = np.random.default_rng(5)
    problems = [make_clutter(rng) for _ in range(80)]
    solved = {
        method: sum(
            (result := cones.solve(*problem, method)).is_solved
            and calc_natural_residual(problem, result.r) <= 1e-8
            for problem in problems
        )
        for method in cones.cone_methods()
    }
    print(solved)
    # Measured: 79. The other one is reported as not solved.
    assert solved["hybrid"] >= 78
    assert solved["hybrid"] >= max(solved["newton"], solved["sweeps"]) + 10


def test_conflicts_have_a_status() -> None:
    # Two opposite walls are to part a particle from both.
    G = np.array([[1.0], [0], [0], [-1], [0], [0]])
    result = cones.solve(G, [-0.1, 0, 0, -0.1, 0, 0], [0.5, 0.5], [0.0])
    assert result.status == "conflict"
    assert result.residual > 0.05
    assert result.worst in (0, 1)


def test_bad_arguments_are_errors() -> None:
    G, b, mu, u_hat = np.ones((3, 2)), np.zeros(3), np.ones(1), np.ones(2)
    for bad, text in [
        ((G[:2], b, mu, u_hat), "G: has shape"),
        ((G, b[:2], mu, u_hat), "b: has 2 entries, must have three"),
        ((G, b, -mu, u_hat), "mu: has the entry -1, must be at least 0"),
        ((G, b, mu, [np.nan, 0]), "u_hat: has entries that are not finite"),
        ((G, b, mu, u_hat, "lemke"), "method: there is no 'lemke' .there are "),
    ]:
        with pytest.raises(Error, match=text):
            cones.solve(*bad)


@pytest.mark.parametrize("exponent", [-290, -250, -20, -7, 0, 10, 20, 250, 280])
def test_units_of_velocities_do_not_matter(exponent: int) -> None:
    free = np.array([-1.0, 0.2, 0.0])
    scale = 10.0**exponent
    result = cones.solve(np.eye(3), free * scale, [0.5], np.zeros(3))
    assert result.is_solved
    assert result.r / scale == pytest.approx(np.array([[1, -0.2, 0]]), rel=1e-9, abs=1e-12)
    opposed = np.vstack([np.eye(3), -np.eye(3)])
    both_close = np.tile([-1.0, 0, 0], 2) * scale
    assert cones.solve(opposed, both_close, [0.5, 0.5], np.zeros(3)).status == "conflict"


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-8, 1e8, 1e100, 1e150])
def test_units_of_rows_do_not_matter(scale: float) -> None:
    result = cones.solve(np.eye(3) * scale, [-1, 0.2, 0], [0.5], np.zeros(3))
    assert result.is_solved
    assert result.r * scale * scale == pytest.approx(np.array([[1, -0.2, 0]]), rel=1e-9, abs=1e-12)
    moving = cones.solve(np.eye(3) * scale, np.zeros(3), [0.5], np.array([-1, 0.2, 0]) / scale)
    assert moving.r == pytest.approx(result.r, rel=1e-9)


def test_numbers_that_overflow_are_refused() -> None:
    with pytest.raises(Error, match="use other units"):
        cones.solve(np.eye(3) * 1e-300, [-1, 0, 0], [0.5], np.zeros(3))
    with pytest.raises(Error, match="use other units"):
        cones.solve(np.eye(3) * 1e200, [-1, 0, 0], [0.5], np.full(3, 1e200))
