"""Solves contact problems with circular friction cones on NumPy arrays, by the solver of the contact
model 'rigid_coulomb'.

    result = stiction.cones.solve(G, b, mu, u_hat)
    result.status, result.r, result.w

Find impulses r, a motion u = u_hat + G^T r and velocities w = G u + b with

    0 <= r_n, 0 <= w_n, r_n w_n = 0,   |r_t| <= mu r_n,   r_t . w_t = -mu r_n |w_t|

for each contact: Signorini's conditions and Coulomb's law. The rows of a contact are its normal and
two tangents, as in the problems of FCLIB. With a mass matrix M = L L^T, forces f and Jacobian H^T,
G is H^T L^-T and u_hat is L^-1 f. With a Delassus matrix W, G is any matrix with G G^T = W, and
u_hat is 0.

A problem without a solution raises no exception: check `result.status`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import stiction._core as _core
from stiction.errors import Error
from stiction.inputs.arguments import check_name, take_matrix, take_vector

__all__ = ["ConeResult", "cone_methods", "solve"]


def __dir__() -> list[str]:
    return sorted(__all__)


_METHODS = ("hybrid", "newton", "sweeps")
_OVERFLOW = (
    "is so large or so small, compared with b and u_hat, that impulses or velocities overflow; "
    "use other units"
)


def cone_methods() -> list[str]:
    """Names of the methods, with the default first.

    'hybrid' takes proximal Newton steps; where Newton's method fails, it sweeps over the contacts,
    and then follows a path from soft springs to stiff ones. 'newton' has proximal Newton steps
    alone, and 'sweeps' has sweeps alone.
    """
    return list(_METHODS)


@dataclass(frozen=True)
class ConeResult:
    """The result of solve.

    Attributes:
        status: 'solved'; 'conflict' if no motion seems to satisfy the constraints; 'not_solved' if
            the method failed.
        r: impulses of the contacts along normal and tangents, shape (num_contacts, 3). They are the
            best ones found if the status is not 'solved'.
        u: the motion u_hat + G^T r, shape (num_columns,).
        w: the velocities G u + b, shape (num_contacts, 3).
        residual: largest difference of r_i from the projection of r_i - w_i / m_i on the sets of the
            law, times m_i, where m_i is the mean diagonal entry of G_i G_i^T [unit of w].
        worst: the contact with this residual; -1 if all residuals are 0.
        newton_steps: number of steps of Newton's method, with the evaluations along the path.
        sweeps: number of sweeps over all contacts.
    """

    status: str
    r: np.ndarray
    u: np.ndarray
    w: np.ndarray
    residual: float
    worst: int
    newton_steps: int
    sweeps: int

    @property
    def is_solved(self) -> bool:
        """True if the status is 'solved'."""
        return self.status == "solved"


def solve(
    G: ArrayLike, b: ArrayLike, mu: ArrayLike, u_hat: ArrayLike, method: str = "hybrid"
) -> ConeResult:
    """Finds impulses that satisfy Signorini's conditions and Coulomb's law.

    The problem may have several solutions, of which one is found.

    Args:
        G: shape (3 num_contacts, num_columns), in any units; rows normal, tangent, tangent.
        b: shape (3 num_contacts,).
        mu: friction coefficients, shape (num_contacts,), >= 0 [-].
        u_hat: shape (num_columns,).
        method: one of cone_methods().

    Raises:
        Error: a shape does not match, an argument has entries that are not finite numbers, a
            coefficient is negative, or there is no such method.
    """
    mu, u_hat, b = take_vector("mu", mu), take_vector("u_hat", u_hat), take_vector("b", b)
    if b.size != 3 * mu.size:
        raise Error(
            "wrong_shape",
            "b",
            f"has {b.size} entries, must have three for each of the {mu.size} entries of mu",
        )
    G = take_matrix("G", G, (b.size, u_hat.size), "C")
    for name, values in (("G", G), ("b", b), ("mu", mu), ("u_hat", u_hat)):
        if not np.isfinite(values).all():
            raise Error("invalid_value", name, "has entries that are not finite numbers")
    if (mu < 0).any():
        raise Error("invalid_value", "mu", f"has the entry {mu.min():g}, must be at least 0")
    index = _METHODS.index(check_name("method", method, _METHODS))
    size, speed = _find_units(G, b, u_hat)
    scaled_u_hat = u_hat * (size / speed)
    solution = _core.cones_solve(G / size, b / speed, mu, scaled_u_hat, index)
    with np.errstate(over="ignore", invalid="ignore"):
        r = np.array(solution.r).reshape(-1, 3) * (speed / size) / size
        u = np.array(solution.u) * (speed / size)
        w = (G @ u + b).reshape(-1, 3)
    if not all(np.isfinite(x).all() for x in (r, u, w)):
        raise Error("invalid_value", "G", _OVERFLOW)
    return ConeResult(
        status=solution.status,
        r=r,
        u=u,
        w=w,
        residual=solution.residual * speed,
        worst=solution.worst,
        newton_steps=solution.newton_steps,
        sweeps=solution.sweeps,
    )


def _find_units(G: np.ndarray, b: np.ndarray, u_hat: np.ndarray) -> tuple[float, float]:
    """Returns powers of two near the largest entry of G and the largest velocity without impulses."""
    with np.errstate(over="ignore", invalid="ignore"):
        velocities = G @ u_hat + b
    largest = np.abs(np.concatenate([velocities, b])).max(initial=0.0)
    if not np.isfinite(largest):
        raise Error("invalid_value", "G", _OVERFLOW)
    size, speed = (_power_of_two(x) for x in (np.abs(G).max(initial=0.0), largest))
    if not 0 < size / speed < np.inf or not 0 < speed / size / size < np.inf:
        raise Error("invalid_value", "G", _OVERFLOW)
    return size, speed


def _power_of_two(x: float) -> float:
    return float(np.ldexp(1.0, np.frexp(x)[1] - 1)) if x > 0 else 1.0
