"""The step of the grasp as an LCP: without slip, or with Coulomb friction by Stewart and Trinkle.

Velocities are whitened, y = sqrt(M) v, so that equality constraints are orthogonal projections. The
rows of the no-slip and joint constraints span a space. Its complement contains y and the projected
rows of the normals, which make the LCP.

Source: [drumwright2015], eqs. (45)-(50); [stewart1996]. M is diagonal here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stiction import lcp
from stiction.evidence.studies.grasp.scene import (
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

NUM_DIRECTIONS = 4  # directions of the friction polygon of a contact, closed under negation


@dataclass(frozen=True)
class GraspLcp:
    """The LCP of a step with c contacts and n bodies, in factors."""

    N: Vector  # projected rows of the normals, (c, 6 n) [kg^-1/2]
    u_hat: Vector  # whitened velocity without normal impulses, (6 n) [kg^1/2 m/s]
    rank: int  # rank of the equality constraints, which u_hat satisfies


def calc_free_velocity(case: GraspCase, state: GraspState) -> Vector:
    """Returns the velocity without constraints, v + h M^-1 f, (6 n)."""
    return state.v + TIME_STEP * calc_forces(case, state) / calc_masses(case)


def make_no_slip_lcp(case: GraspCase, state: GraspState, contacts: GraspContacts) -> GraspLcp:
    """Makes the LCP of the normal impulses, with joints and all tangents as equality constraints."""
    first, second = contacts.make_tangents()
    joints = make_joint_rows(case, state)
    equalities = [
        joints,
        make_rows(case, state, contacts, first),
        make_rows(case, state, contacts, second),
    ]
    return _project(case, state, contacts, np.vstack(equalities), len(joints))


def _project(
    case: GraspCase, state: GraspState, contacts: GraspContacts, equalities: Vector, num_first: int
) -> GraspLcp:
    """Projects normals and free velocity off the constraints. The first num_first have priority."""
    root = np.sqrt(calc_masses(case))
    basis: Vector = lcp.select_rows(equalities / root, num_first=num_first).basis

    def remove(y: Vector) -> Vector:
        return np.asarray(y - (y @ basis.T) @ basis)

    N = make_rows(case, state, contacts, contacts.normal) / root
    return GraspLcp(remove(N), remove(root * calc_free_velocity(case, state)), len(basis))


@dataclass(frozen=True)
class CoulombLcp:
    """The LCP of Stewart and Trinkle for c contacts and n bodies."""

    # Q, r: matrix and vector, (6 c, 6 c) and (6 c). The unknowns are the normal impulses, the
    # impulses along four tangents per contact, and the slip speeds.
    Q: Vector
    r: Vector
    G: Vector  # projected rows of the impulses, (5 c, 6 n) [kg^-1/2]
    u_hat: Vector  # as in GraspLcp


def make_coulomb_lcp(
    case: GraspCase, state: GraspState, contacts: GraspContacts, friction: float
) -> CoulombLcp:
    """Makes the LCP with a friction polygon of four directions and one friction coefficient [-]."""
    root = np.sqrt(calc_masses(case))
    joints = make_joint_rows(case, state)
    frictionless = _project(case, state, contacts, joints, len(joints))
    basis = lcp.select_rows(joints / root, num_first=len(joints)).basis
    first, second = contacts.make_tangents()
    c = len(contacts)
    S = make_rows(case, state, contacts, first) / root
    T = make_rows(case, state, contacts, second) / root
    # The directions of a contact are t1, t2, -t1, -t2.
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
    """Returns the velocity v of a whitened velocity, (6 n)."""
    return u / np.sqrt(calc_masses(case))
