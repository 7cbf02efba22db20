"""stiction.lcp is compared with enumeration, least squares and problems of other programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from stiction import Error, lcp

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "lcp"
# Normal parts of friction problems: contacts, and rank of Q by singular values.
PROBLEMS = {
    "Box_Stacks-i0122-82-5.hdf5": (82, None),
    "Chute-ndof-768-nc-4-3.hdf5": (4, None),
    "CubeH8.hdf5": (1, None),
    "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5": (60, 47),
}


def make_normal_lcp(data: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Makes Q and r of a friction problem, restricted to the normal directions of the contacts."""
    rows = slice(0, None, data["q" if "W" in data else "w"].size // data["mu"].size)
    if "W" in data:
        return data["W"][rows, rows], data["q"][rows]
    Hn = data["H"][:, rows]
    return Hn.T @ np.linalg.solve(data["M"], Hn), Hn.T @ np.linalg.solve(
        data["M"], data["f"]
    ) + data["w"][rows]


@pytest.mark.parametrize("solver", ["ppm_ratio", "lemke"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_normal_parts_of_fclib_problems_are_solved(
    name: str, solver: str, read_fclib: Callable[[Path], dict[str, np.ndarray]]
) -> None:
    if not REFERENCE.is_dir():
        pytest.skip("needs ../shared/reference/lcp")
    num_contacts, rank = PROBLEMS[name]
    Q, r = make_normal_lcp(read_fclib(REFERENCE / name))
    Q = (Q + Q.T) / 2  # remove the asymmetry of round-off and of the file
    assert r.size == num_contacts
    if rank is not None:
        assert np.linalg.matrix_rank(Q, tol=1e-9 * np.abs(Q).max()) == rank
    result = lcp.solve(Q, r, solver)
    assert result.status == "solved", result
    residual = np.abs(np.minimum(result.z, Q @ result.z + r)).max()
    assert residual <= 1e-9 * (1 + np.abs(r).max())
    assert result.active.size <= np.linalg.matrix_rank(Q, tol=1e-12 * np.abs(Q).max())


def enumerate_w(Q: np.ndarray, r: np.ndarray) -> np.ndarray | None:
    """Find w of the solution by trying all active sets."""
    for size in range(r.size + 1):
        for active in map(list, combinations(range(r.size), size)):
            z = np.zeros(r.size)
            z[active] = np.linalg.lstsq(Q[np.ix_(active, active)], -r[active], rcond=None)[0]
            w = Q @ z + r
            if min(z.min(), w.min()) > -1e-9 and np.abs(w[active]).max(initial=0) < 1e-9:
                return w
    return None


@pytest.mark.parametrize("solver", lcp.lcp_solvers())
def test_small_problems_agree_with_enumeration(solver: str) -> None:
    rng = np.random.default_rng(1)
    num_solved = num_infeasible = 0
    for k in range(60):
        size = int(rng.integers(1, 7))
        N = rng.normal(size=(size, int(rng.integers(1, size + 1))))
        r = (
            N @ rng.normal(size=N.shape[1])
            if solver in ("ppm", "ppm_i") or k % 2
            else rng.normal(size=size)
        )
        expected = enumerate_w(N @ N.T, r)
        result = lcp.solve(N @ N.T, r, solver)
        assert result.is_solved == (expected is not None)
        if expected is None:
            assert result.status == "infeasible"
            num_infeasible += 1
            continue
        np.testing.assert_allclose(result.w, expected, atol=1e-8)
        num_solved += 1
    assert num_solved >= 30
    assert num_infeasible >= 3 or solver in ("ppm", "ppm_i")


@pytest.mark.parametrize("solver", ["lemke", "ppm_i"])
def test_unsymmetric_p_matrices_agree_with_enumeration(solver: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        size = int(rng.integers(1, 7))
        half, skew = rng.normal(size=(2, size, size))
        Q = half @ half.T + 0.1 * np.eye(size) + skew - skew.T  # x^T Q x > 0
        r = rng.normal(size=size)
        result = lcp.solve(Q, r, solver)
        assert result.is_solved, result
        np.testing.assert_allclose(result.w, enumerate_w(Q, r), atol=1e-7)


@pytest.mark.parametrize("size", [1, 4, 9])
def test_ppm_i_takes_the_passes_of_murtys_matrix(size: int) -> None:
    Q = np.eye(size) + 2 * np.triu(np.ones((size, size)), 1)
    result = lcp.solve(Q, -np.ones(size), "ppm_i")
    assert result.is_solved
    assert result.pivots == 2**size - 1
    np.testing.assert_allclose(result.z, np.eye(size)[-1], atol=1e-12)


def test_solve_gram_finds_the_nearest_point() -> None:
    rng = np.random.default_rng(2)
    N, u_hat = rng.normal(size=(30, 8)), rng.normal(size=8)
    b = -N @ rng.normal(size=8) + rng.uniform(0, 1, 30)  # feasible
    result = lcp.solve_gram(N, b, u_hat)
    assert result.is_solved
    np.testing.assert_allclose(result.u, u_hat + N.T @ result.z, atol=1e-12)
    np.testing.assert_allclose(result.w, N @ result.u + b, atol=1e-12)
    assert result.w.min() > -1e-9
    again = lcp.solve_gram(N, b, u_hat, guess=result.active)
    assert again.pivots == 0
    np.testing.assert_allclose(again.u, result.u, atol=1e-10)


def test_mlcp_solves_both_equations() -> None:
    rng = np.random.default_rng(3)
    half, N = rng.normal(size=(6, 6)), rng.normal(size=(9, 6))
    M, f = half @ half.T + np.eye(6), rng.normal(size=6)
    zero, b = np.zeros((9, 9)), np.zeros(9)
    result = lcp.solve_mlcp(M, -N.T, N, zero, -f, b)
    assert result.is_solved
    np.testing.assert_allclose(M @ result.u - N.T @ result.z, f, atol=1e-10)
    np.testing.assert_allclose(N @ result.u, result.w, atol=1e-10)
    M[3] = M[:, 3] = 0
    assert lcp.solve_mlcp(M, -N.T, N, zero, -f, b).status == "not_solved"


def test_selected_rows_span_all_rows() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 12))
    for pivoted in (True, False):
        rows = lcp.select_rows(X, num_first=3, pivoted=pivoted)
        assert rows.rank == 5
        np.testing.assert_allclose(rows.factor @ rows.basis, X[rows.selected], atol=1e-12)
        np.testing.assert_allclose(X @ rows.basis.T @ rows.basis, X, atol=1e-10)
        assert set(rows.selected[:3]) == {0, 1, 2}


def test_bad_problems_have_a_status_that_names_the_row() -> None:
    eye, r = np.eye(3), -np.ones(3)
    Q = eye.copy()
    Q[1, 2] = 0.5
    result = lcp.solve(Q, r)
    assert (result.status, result.row) == ("not_symmetric", 1)
    assert lcp.solve(Q, r, "lemke").is_solved
    assert lcp.solve(-eye, r).status == "indefinite"
    result = lcp.solve(eye, np.array([0, np.nan, 0]))
    assert (result.status, result.row) == ("not_finite", 1)
    result = lcp.solve_gram([[1.0], [-1.0]], [-1, -1], [0])  # u >= 1 and u <= -1
    assert (result.status, result.fallback_level) == ("infeasible", 3)
    assert result.row in (0, 1)
    assert lcp.solve(np.zeros((0, 0)), []).is_solved


@pytest.mark.parametrize("solver", lcp.lcp_solvers())
def test_a_problem_that_is_not_solved_has_its_residual(solver: str) -> None:
    result = lcp.solve(-np.eye(3), [-3, -1, -2], solver)
    assert not result.is_solved
    assert result.residual == np.abs(np.minimum(result.z, result.w)).max() > 0
    assert np.isnan(lcp.solve(np.full((1, 1), np.nan), [-1], solver).residual)
    one = np.eye(1)
    result = lcp.solve_mlcp(0 * one, one, one, one, [1], [-2], solver)  # a singular A
    assert (result.status, result.residual) == ("not_solved", 2)
    np.testing.assert_array_equal(result.w, [-2])


@pytest.mark.parametrize("solver", lcp.lcp_solvers())
def test_a_mixed_problem_that_condensing_spoils_is_not_called_solved(solver: str) -> None:
    num_unsolved = 0
    for size in range(2, 13):
        # The condition number of Hilbert's matrix of size 12 is 1e16.
        A = 1 / (np.arange(size)[:, None] + np.arange(size) + 1.0)
        rng = np.random.default_rng(0)
        C, a, b = rng.normal(size=(size, 4)), rng.normal(size=size), rng.normal(size=4)
        result = lcp.solve_mlcp(A, C, -C.T, np.zeros((4, 4)), a, b, solver)
        w = -C.T @ result.u + b
        error = max(
            np.abs(np.minimum(result.z, w)).max(), np.abs(A @ result.u + C @ result.z + a).max()
        )
        assert result.residual == pytest.approx(error, rel=0.1, abs=1e-12 * np.abs(result.u).max())
        if result.is_solved:
            assert error <= 1e-7 * np.abs(C).sum() * np.abs(result.u).max()
        else:
            num_unsolved += 1
    assert num_unsolved >= 1


def test_feasibility_does_not_depend_on_the_scale_of_a_row() -> None:
    for solver in lcp.lcp_solvers():
        result = lcp.solve(np.diag([1e-13, 1.0]), [-1.0, -1.0], solver)
        if solver == "active_set":  # DAQP itself treats a row that short as zero
            assert result.status == "not_solved"
            continue
        assert result.is_solved, (solver, result)
        np.testing.assert_allclose(result.z, [1e13, 1], rtol=1e-8)
    result = lcp.solve(np.diag([1e-10, 1e4]), [-1.0, -1.0], "active_set")
    np.testing.assert_allclose(result.z, [1e10, 1e-4], rtol=1e-8)


def test_rows_are_selected_at_any_scale() -> None:
    X = np.array([[3e200, 0, 0], [0, 2e-200, 0], [3e200, 1e185, 0], [0, 0, np.nan], [0, 0, np.inf]])
    for pivoted in (True, False):
        rows = lcp.select_rows(X, pivoted=pivoted)
        assert sorted(rows.selected) == [0, 1]
        np.testing.assert_allclose(rows.factor @ rows.basis, X[rows.selected], rtol=1e-15)
    assert lcp.select_rows(np.ones((2, 10**6))).rank == 1  # memory grows with the rank only


LARGE = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
import numpy as np
from stiction import lcp
N = np.random.default_rng(0).normal(size={shape})
try:
    lcp.solve_gram(N, -np.ones({shape}[0]), np.zeros({shape}[1]), "{solver}")
except MemoryError as e:
    print("no room")
"""


@pytest.mark.parametrize(
    ("solver", "shape"),
    [("lemke", (30000, 1)), ("active_set", (100, 46000)), ("active_set", (1, 100000))],
)
def test_a_problem_too_large_for_memory_is_an_error(solver: str, shape: tuple[int, int]) -> None:
    text = LARGE.format(solver=solver, shape=shape)
    result = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, "no room\n"), result.stderr


TIGHT = """
import resource
import numpy as np
from stiction import lcp
n = {n}
N, b, u = np.eye(n, order="F"), -np.ones(n), np.zeros(n)
lcp.solve(np.eye(2), -np.ones(2))
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + {room},) * 2)
try:
    {call}
except MemoryError as e:
    print("no room")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "n", "room"),
    [
        ("lcp.solve_gram(N, b, u)", 4000, 2**25),
        ("lcp.solve_gram(N, b, u, 'ppm')", 4000, 2**25),
        # The factor grows with the pivots, so this one fails after a thousand of them.
        ("lcp.solve(N, b)", 2500, 2**21),
    ],
)
def test_running_out_of_memory_during_a_solve_is_an_error(call: str, n: int, room: int) -> None:
    text = TIGHT.format(call=call, n=n, room=room)
    result = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, "no room\n"), result.stderr


@pytest.mark.parametrize(
    ("call", "code", "where"),
    [
        (lambda: lcp.solve(np.eye(2), [1, 2, 3]), "wrong_shape", "Q"),
        (lambda: lcp.solve(np.eye(2), np.eye(2)), "wrong_shape", "r"),
        (lambda: lcp.solve("matrix", [1.0]), "wrong_shape", "Q"),
        (lambda: lcp.solve([["1"]], [1.0]), "wrong_shape", "Q"),
        (lambda: lcp.solve([[1]], [10**400]), "wrong_shape", "r"),
        (lambda: lcp.solve(np.zeros((1, 1), "M8[s]"), [1]), "wrong_shape", "Q"),
        (lambda: lcp.solve(np.ma.array([[1.0]], mask=True), [1]), "wrong_shape", "Q"),
        (
            lambda: lcp.solve(np.broadcast_to(0.0, (50000, 50000)), np.zeros(50000)),
            "unsupported",
            "Q",
        ),
        (
            lambda: lcp.solve_gram(np.ones((50000, 1)), np.ones(50000), [0], "lemke"),
            "unsupported",
            "N",
        ),
        (lambda: lcp.select_rows(np.eye(2), pivoted="no"), "invalid_value", "pivoted"),
        (lambda: lcp.solve(np.eye(1), [1.0], "lemkee"), "unknown_name", "solver"),
        (lambda: lcp.solve(np.eye(1), [1.0], guess=[0.5]), "wrong_shape", "guess"),
        (lambda: lcp.solve_gram(np.eye(2), [1, 2], [1]), "wrong_shape", "N"),
        (lambda: lcp.solve_mlcp(*[np.eye(2)] * 4, [1], [1, 2]), "wrong_shape", "A"),
        (lambda: lcp.select_rows([1, 2]), "wrong_shape", "X"),
        (lambda: lcp.select_rows(np.eye(2), num_first=3), "invalid_value", "num_first"),
        (lambda: lcp.select_rows(np.eye(2), tolerance=2), "invalid_value", "tolerance"),
    ],
)
def test_bad_arguments_are_errors(call, code: str, where: str) -> None:
    with pytest.raises(Error) as caught:
        call()
    assert (caught.value.code, caught.value.where) == (code, where)


def test_guesses_and_matrices_of_other_kinds_are_refused() -> None:
    with pytest.raises(Error, match="guess"):
        lcp.solve(np.eye(2), -np.ones(2), guess=3)  # type: ignore[arg-type]
    with pytest.raises(Error, match="Q"):
        lcp.solve(1j * np.eye(2), -np.ones(2))
