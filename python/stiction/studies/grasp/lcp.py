"""The grasp's step as an LCP: no slip, and Coulomb's friction by Stewart and Trinkle.

Velocities are whitened, y = sqrt(M) v, so that a step is a projection: rows of no slip and of joints
span a space that y leaves, and what remains of the normals' rows makes the LCP.

Source: [drumwright2015], eqs. (45)-(50); [stewart1996]. M is diagonal here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stiction import lcp
from stiction.studies.grasp.scene import (
    TIME_STEP,
    GraspCase,
    GraspContacts,
    GraspState,
    Vector,
    calc_forces,
    calc_masses,
    make_joint_rows,
    make_rows,
)

# Of the friction polygon: directions of each contact, closed under negation.
NUM_DIRECTIONS = 4


@dataclass(frozen=True)
class GraspLcp:
    """N: (c, 6 n), what is left of the normals' rows [kg^-1/2]. u_hat: (6 n), whitened velocity
    without normal impulses [kg^1/2 m/s]. rank: of the rows that it satisfies already.
    """

    N: Vector
    u_hat: Vector
    rank: int

    def make_dense(self) -> tuple[Vector, Vector]:
        """Q = N N^T, r = N u_hat, for solvers that want the matrix."""
        return self.N @ self.N.T, self.N @ self.u_hat


def calc_free_velocity(case: GraspCase, state: GraspState) -> Vector:
    """v + h M^-1 f, (6 n)."""
    return state.v + TIME_STEP * calc_forces(case, state) / calc_masses(case)


def make_no_slip_lcp(case: GraspCase, state: GraspState, contacts: GraspContacts) -> GraspLcp:
    """Joints and both tangents of every contact at rest: only normal impulses are unknown."""
    first, second = contacts.make_tangents()
    joints = make_joint_rows(case, state)
    held = [
        joints,
        make_rows(case, state, contacts, first),
        make_rows(case, state, contacts, second),
    ]
    return _project(case, state, contacts, np.vstack(held), len(joints))


def _project(
    case: GraspCase, state: GraspState, contacts: GraspContacts, held: Vector, num_first: int
) -> GraspLcp:
    root = np.sqrt(calc_masses(case))
    basis: Vector = lcp.select_rows(held / root, num_first=num_first).basis

    def remove(y: Vector) -> Vector:
        return np.asarray(y - (y @ basis.T) @ basis)

    N = make_rows(case, state, contacts, contacts.normal) / root
    return GraspLcp(remove(N), remove(root * calc_free_velocity(case, state)), len(basis))


@dataclass(frozen=True)
class CoulombLcp:
    """Q, r of Stewart and Trinkle, (6 c, 6 c) and (6 c): normal impulses, impulses along four
    tangents, slip speeds. G: (5 c, 6 n), the rows of the impulses; u_hat as in GraspLcp.
    """

    Q: Vector
    r: Vector
    G: Vector
    u_hat: Vector


def make_coulomb_lcp(
    case: GraspCase, state: GraspState, contacts: GraspContacts, friction: float
) -> CoulombLcp:
    """The polygon of four directions, with one coefficient [-] at all contacts."""
    root = np.sqrt(calc_masses(case))
    joints = make_joint_rows(case, state)
    frictionless = _project(case, state, contacts, joints, len(joints))
    basis = lcp.select_rows(joints / root, num_first=len(joints)).basis
    first, second = contacts.make_tangents()
    c = len(contacts)
    S = make_rows(case, state, contacts, first) / root
    T = make_rows(case, state, contacts, second) / root
    # Contact by contact: t1, t2, -t1, -t2.
    D = np.stack([S, T, -S, -T], axis=1).reshape(NUM_DIRECTIONS * c, len(root))
    D = D - (D @ basis.T) @ basis
    G = np.vstack([frictionless.N, D])
    E = np.kron(np.eye(c), np.ones((NUM_DIRECTIONS, 1)))
    size = c * (NUM_DIRECTIONS + 2)
    Q = np.zeros((size, size))
    Q[: len(G), : len(G)] = G @ G.T
    Q[c : len(G), len(G) :] = E
    Q[len(G) :, :c] = friction * np.eye(c)
    Q[len(G) :, c : len(G)] = -E.T
    r = np.concatenate([G @ frictionless.u_hat, np.zeros(c)])
    return CoulombLcp(Q, r, G, frictionless.u_hat)


def to_velocity(case: GraspCase, u: Vector) -> Vector:
    """v, (6 n), of a whitened velocity."""
    return u / np.sqrt(calc_masses(case))
