"""Solves linear complementarity problems (LCPs) on NumPy arrays, with the solvers of the rigid models.

    result = stiction.lcp.solve(Q, r)
    result.status, result.z, result.w

The solvers, with the default first:

- 'ppm_ratio': ratio-tested principal pivoting [drumwright2015], for symmetric positive semidefinite
  Q. It uses a guess, and tries fallbacks after a failure.
- 'ppm': principal pivoting as published [drumwright2015], for the same Q. It may fail.
- 'ppm_i': the method that 'ppm' modifies, principal pivoting method I [murty1974], for any P-matrix. It
  may fail for other Q.
- 'lemke': Lemke's method [lemke1965], for any Q; it is made for copositive ones. It has fallbacks of
  its own.
- 'active_set': DAQP's dual active-set method [arnstrom2022], for the same Q as 'ppm_ratio'. Some
  builds do not have it.

A problem without a solution, or with a matrix that the solver does not support, raises no exception:
check `result.status`. Only the status 'solved' means that z is a solution. The residual is always
computed from the problem as given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import stiction._core as _core
from stiction._core import LcpResult, lcp_solvers
from stiction.errors import Error
from stiction.inputs.arguments import (
    MAX_ENTRIES,
    check_flag,
    check_integer,
    check_name,
    check_number,
    take_matrix,
    take_vector,
)

__all__ = [
    "LcpResult",
    "RowBasis",
    "lcp_solvers",
    "select_rows",
    "solve",
    "solve_gram",
    "solve_mlcp",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def solve(
    Q: ArrayLike, r: ArrayLike, solver: str = "ppm_ratio", guess: Sequence[int] | None = None
) -> LcpResult:
    """Finds z >= 0 with w = Q z + r >= 0 and z^T w = 0.

    Args:
        Q: shape (size, size), in any units.
        r: shape (size,).
        solver: one of lcp_solvers().
        guess: rows that may have w = 0, such as `result.active` of a similar problem. Rows beyond the
            last one are ignored.

    Raises:
        Error: a shape does not match, an argument has entries that are not numbers, or there is no
            such solver.
        MemoryError: the problem is too large for the solver.
    """
    r = take_vector("r", r)
    Q = take_matrix("Q", Q, (r.size, r.size), "F")
    return _core.lcp_solve(Q, r, check_name("solver", solver), _take_guess(guess))


def solve_gram(
    N: ArrayLike,
    b: ArrayLike,
    u_hat: ArrayLike,
    solver: str = "ppm_ratio",
    guess: Sequence[int] | None = None,
) -> LcpResult:
    """Finds the point u nearest to u_hat with N u + b >= 0, and its multipliers z.

    This is the LCP with Q = N N^T and r = N u_hat + b, and u = u_hat + N^T z. Only 'lemke' forms Q.

    Args:
        N: shape (num_rows, num_columns), in any units.
        b: shape (num_rows,).
        u_hat: shape (num_columns,).
        solver, guess: as for solve.

    Raises:
        Error: as solve.
        MemoryError: as solve.
    """
    b, u_hat = take_vector("b", b), take_vector("u_hat", u_hat)
    N = take_matrix("N", N, (b.size, u_hat.size), "C")
    if solver == "lemke" and b.size**2 > MAX_ENTRIES:
        raise Error(
            "unsupported",
            "N",
            f"has {b.size} rows, which is too many for the dense N N^T of 'lemke'; "
            "use another solver",
        )
    return _core.lcp_solve_gram(N, b, u_hat, check_name("solver", solver), _take_guess(guess))


def solve_mlcp(
    A: ArrayLike,
    C: ArrayLike,
    D: ArrayLike,
    B: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    solver: str = "ppm_ratio",
    guess: Sequence[int] | None = None,
) -> LcpResult:
    """Solves A u + C z + a = 0, 0 <= z, w = D u + B z + b >= 0, z^T w = 0, with u free.

    The problem is condensed to an LCP with Q = B - D A^-1 C and r = b - D A^-1 a. If A is singular,
    the status is 'not_solved' and `row` is a column of A. If the status is 'not_finite', `row` counts
    the rows of [A C a; D B b].

    Args:
        A: shape (num_free, num_free), nonsingular.
        C: shape (num_free, size).
        D: shape (size, num_free).
        B: shape (size, size).
        a: shape (num_free,).
        b: shape (size,).
        solver, guess: as for solve. 'lemke' and 'ppm_i' take a Q that is not symmetric.

    Raises:
        Error: as solve.
        MemoryError: as solve.
    """
    a, b = take_vector("a", a), take_vector("b", b)
    n, c = a.size, b.size
    matrices = (
        take_matrix("A", A, (n, n), "F"),
        take_matrix("C", C, (n, c), "F"),
        take_matrix("D", D, (c, n), "F"),
        take_matrix("B", B, (c, c), "F"),
    )
    return _core.lcp_solve_mlcp(*matrices, a, b, check_name("solver", solver), _take_guess(guess))


@dataclass(frozen=True)
class RowBasis:
    """Linearly independent rows of a matrix X, with X[selected] = factor @ basis.

    Attributes:
        selected: indices of the rows, shape (rank,).
        basis: orthonormal rows, shape (rank, num_columns) [-].
        factor: lower triangular matrix, shape (rank, rank) [unit of X].
    """

    selected: np.ndarray
    basis: np.ndarray
    factor: np.ndarray

    @property
    def rank(self) -> int:
        """The number of selected rows."""
        return int(self.selected.size)


def select_rows(
    X: ArrayLike, *, num_first: int = 0, pivoted: bool = True, tolerance: float = 1e-8
) -> RowBasis:
    """Selects a maximal set of linearly independent rows of X.

    Rows of zeros and rows with numbers that are not finite are never selected.

    Args:
        X: shape (num_rows, num_columns).
        num_first: number of leading rows that are selected before all others, if independent; only
            used if `pivoted`.
        pivoted: True selects the most independent row next; False goes through the rows in order, as
            published in [drumwright2015].
        tolerance: a row counts as dependent if its part orthogonal to the selected rows has at most
            this fraction of its squared norm, in [0, 1) [-].

    Raises:
        Error: X is not a matrix of numbers, or a value is out of range.
    """
    rows = take_matrix("X", X, None, "C")
    num_first = check_integer("num_first", num_first, 0, rows.shape[0])
    tolerance = check_number("tolerance", tolerance)
    if not 0 <= tolerance < 1:
        raise Error("invalid_value", "tolerance", f"is {tolerance}, must be in [0, 1)")
    pivoted = check_flag("pivoted", pivoted)
    # Scale the rows by powers of two to lengths near 1, so that squares do not overflow or underflow.
    exponents = np.frexp(np.abs(rows).max(axis=1, initial=0))[1][:, np.newaxis]
    rows = np.ldexp(rows, -exponents)
    selected, basis, factor = _core.lcp_select_rows(rows, num_first, pivoted, tolerance)
    rank = selected.size
    factor = np.ldexp(factor.reshape(rank, rank), exponents[selected])
    return RowBasis(selected, basis.reshape(rank, rows.shape[1]), factor)


def _take_guess(guess: Sequence[int] | None) -> list[int]:
    if guess is None:
        return []
    try:
        rows = list(guess)
    except TypeError as e:
        raise Error("wrong_shape", "guess", f"is {guess!r}, must be a sequence of rows") from e
    return [check_integer("guess", row, 0) for row in rows]
