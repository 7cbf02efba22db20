"""The loads that the friction of a grasp can carry, from its contact points and normal forces.

A grasp begins to slip when no distribution of friction within Coulomb's bounds balances the load. By
the upper bound theorem of limit analysis, the largest torque about a direction is the least power of
friction over all axes of rotation in this direction,

    tau = min_c sum_i mu_i f_i |v_i(c)| / omega + sum_i nu_i f_i |n_i . a|,

where v_i(c) is the tangential velocity of contact i at a rotation about the axis a through c, and nu
the torsional friction. Normal forces are taken as fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_MAX_ITERATIONS = 500
_SMALL = 1e-12  # [m]


@dataclass(frozen=True)
class GraspContacts:
    """The contacts of a held body.

    Attributes:
        point: contact points in the world [m], (n, 3).
        normal: unit normals, (n, 3).
        force: normal forces [N], (n,).
        friction: coefficients of sliding friction [-], (n,).
        torsion: coefficients of torsional friction [m], (n,).
        tangential: friction forces [N], (n, 3).
    """

    point: Vector
    normal: Vector
    force: Vector
    friction: Vector
    torsion: Vector
    tangential: Vector

    @property
    def bound(self) -> Vector:
        """Coulomb's bound of each contact [N], (n,)."""
        return self.friction * self.force


def calc_slip_margin(contacts: GraspContacts, down: Vector, load: float) -> float:
    """Returns the share of friction that the weight leaves, 1 - f_t / (sum mu f_n) [-].

    Below 0 friction cannot carry the weight; 1 if normal forces carry all of it.

    Args:
        contacts: of the held body.
        down: unit vector along gravity, (3,).
        load: the weight [N].
    """
    # Normals point out of or into the body; only their part along gravity carries.
    carried = float(np.abs(contacts.normal @ down) @ contacts.force)
    tangential = max(load - carried, 0.0)
    bound = float(contacts.bound.sum())
    if bound == 0:
        return 1.0 if tangential == 0 else -np.inf
    return 1 - tangential / bound


def calc_worst_share(contacts: GraspContacts) -> float:
    """Returns the largest share of its friction bound that a contact uses [-]."""
    bound = contacts.bound
    used = np.linalg.norm(contacts.tangential, axis=1)
    shares = np.divide(used, bound, out=np.zeros_like(used), where=bound > 0)
    return float(shares.max(initial=0.0))


def find_grasp_axis(contacts: GraspContacts) -> Vector:
    """Returns the direction in which the contacts press most, a unit vector, (3,)."""
    squeeze = (contacts.normal * contacts.force[:, None]).T @ contacts.normal
    axis: Vector = np.linalg.eigh(squeeze)[1][:, -1]
    oriented: Vector = axis * np.sign(axis[np.argmax(np.abs(axis))])
    return oriented


def calc_torsional_limit(contacts: GraspContacts, axis: Vector) -> float:
    """Returns the largest torque about an axis that friction carries without another load [N m].

    The axis of least power is found by Weiszfeld's iterations, which converge because the power is
    convex in c.

    Args:
        contacts: of the held body.
        axis: a, a unit vector, (3,).
    """
    weight = contacts.bound
    torsional = float(np.abs(contacts.normal @ axis) @ (contacts.torsion * contacts.force))
    if len(weight) == 0 or not np.any(weight > 0):
        return torsional
    # v_i / omega = P_i (a x (p_i - c)), with P_i the projection on the tangent plane.
    cross = np.cross(axis, contacts.point)
    turn = np.cross(axis, np.eye(3)).T  # a x c = turn c
    projection = np.eye(3) - contacts.normal[:, :, None] * contacts.normal[:, None, :]
    constant = np.einsum("nij,nj->ni", projection, cross)
    linear = projection @ turn

    def calc_speeds(center: Vector) -> Vector:
        speeds: Vector = np.linalg.norm(constant - linear @ center, axis=1)
        return speeds

    # The power is least between contacts or at one of them, where Weiszfeld's iterations may stop.
    center = np.average(contacts.point, axis=0, weights=weight)
    candidates = [center, *contacts.point]
    for _ in range(_MAX_ITERATIONS):
        scale = weight / np.maximum(calc_speeds(center), _SMALL)
        matrix = np.einsum("n,nij,nik->jk", scale, linear, linear)
        right = np.einsum("n,nij,ni->j", scale, linear, constant)
        last, center = center, np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
        if np.linalg.norm(center - last) < _SMALL:
            break
    candidates.append(center)
    return torsional + min(float(weight @ calc_speeds(c)) for c in candidates)
