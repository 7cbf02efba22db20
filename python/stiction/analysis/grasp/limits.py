"""The loads that the friction of a grasp can carry, from its contact points and normal forces.

A grasp begins to slip when no distribution of friction within its bounds balances the load. Friction
f_t, torsional friction t_n and rolling friction t_t of a contact have one bound together,

    |f_t|^2 / mu^2 + t_n^2 / nu^2 + |t_t|^2 / rho^2 <= f_n^2,

with the coefficients mu, nu and rho, as in the laws of friction. Its power at a motion with the slip v_i,
the spin n_i . w and the rolling velocity P_i w is at most

    p_i = f_i |(mu_i v_i, nu_i n_i . w, rho_i P_i w)|.

By the upper bound theorem of limit analysis, the largest torque about a direction is the least power
sum_i p_i(c) over all axes of rotation in this direction through points c, at w = 1. Normal forces are
taken as fixed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MAX_ITERATIONS = 500
_COOLING = 0.93  # of the smoothing at each iteration
_SMALL = 1e-12  # [m]
_ROUND_OFF = 1e-9  # relative
_NO_FRICTION = 1e-6  # relative to all friction; less resists nothing
# If normal forces carry all but this share of the weight, friction does not carry it.
NORMALS_CARRY = 0.02


@dataclass(frozen=True)
class GraspContacts:
    """The contacts of a held body, at points [m], (n, 3), with forces [N] and friction [-], (n,).

    normal: unit normals into the held body, (n, 3).
    torsion, rolling: coefficients of torsional and rolling friction [m], (n,).
    tangential, torque: friction forces [N] and torques of torsion and rolling [N m], (n, 3).
    """

    point: Vector
    normal: Vector
    force: Vector
    friction: Vector
    torsion: Vector
    rolling: Vector
    tangential: Vector
    torque: Vector

    def select(self, flags: Flags) -> GraspContacts:
        """Returns the contacts with a flag, (n,)."""
        fields = dataclasses.fields(self)
        return GraspContacts(**{field.name: getattr(self, field.name)[flags] for field in fields})

    @property
    def total_force(self) -> Vector:
        """Sum of all forces [N], (3,)."""
        return np.asarray((self.force[:, None] * self.normal + self.tangential).sum(axis=0))

    @property
    def bound(self) -> Vector:
        """Coulomb's bound of each contact without torsion [N], (n,)."""
        return self.friction * self.force

    @property
    def projection(self) -> Vector:
        """Projections on the tangent planes, (n, 3, 3)."""
        projection: Vector = np.eye(3) - self.normal[:, :, None] * self.normal[:, None, :]
        return projection


def calc_slip_margin(contacts: GraspContacts, down: Vector, load: float, center: Vector) -> float:
    """Returns the share of friction that the weight leaves, 1 - s [-].

    s is the smallest share of all friction bounds with which friction balances the weight and the
    normal forces, and their torques. By the duality of limit analysis,

        s = max_c p(c) / sum_i p_i(c),

    where p is the power of the weight and the normal forces at the twist c of the body. Below 0 friction
    cannot carry the weight; 1 if normal forces carry all of it. `down` is a unit vector, (3,).
    """
    arm = contacts.point - center
    length = max(float(np.sqrt(np.mean(arm * arm))), _SMALL) if len(arm) else 1.0  # of the grasp
    arm = arm / length  # twists and torques have the units of velocities and forces
    normal_force = contacts.force[:, None] * contacts.normal
    force = load * down + normal_force.sum(axis=0)
    wrench = np.concatenate([force, np.cross(arm, normal_force).sum(axis=0)])
    # v_i = P_i (v + omega x r_i).
    cross = np.cross(np.eye(3)[None], arm[:, None]).swapaxes(1, 2)
    identity = np.tile(np.eye(3), (len(arm), 1, 1))
    slip = np.concatenate([identity, cross], axis=2)
    turn = np.concatenate([np.zeros_like(identity), identity / length], axis=2)
    motion = _scale_motions(contacts, slip, turn)
    weight = contacts.force
    # At some twists no contact slips: friction does not resist them.
    rows = (weight[:, None, None] * motion).reshape(-1, 6)
    _, values, twists = np.linalg.svd(rows, full_matrices=False)
    free = twists[values <= _NO_FRICTION * np.linalg.norm(rows)].T
    rest = free @ (free.T @ wrench)
    if np.linalg.norm(rest) > NORMALS_CARRY * load:
        approach = np.einsum("ni,ni->n", contacts.normal, rest[:3] + np.cross(rest[3:], arm))
        if not np.any(approach < -NORMALS_CARRY * float(np.linalg.norm(rest))):
            return -np.inf  # the body falls or turns; otherwise a contact stops it
    wrench = wrench - rest
    size = float(np.linalg.norm(wrench))
    if size <= NORMALS_CARRY * load:
        return 1.0
    along = wrench / size
    across = np.linalg.svd(along[None, :])[2][
        1:
    ].T  # twists along + across c have one power for all c
    return 1 - size / _find_least_power(weight, motion @ along, -motion @ across, [np.zeros(5)])


def _scale_motions(contacts: GraspContacts, slip: Vector, turn: Vector) -> Vector:
    """Returns (mu P v, nu n . w, rho P w) at the contacts, (n, 7, m), of v and w, (n, 3, m) each."""
    along = np.einsum("ni,nim->nm", contacts.normal, turn)[:, None]
    return np.concatenate(
        [
            contacts.friction[:, None, None] * (contacts.projection @ slip),
            contacts.torsion[:, None, None] * along,
            contacts.rolling[:, None, None] * (contacts.projection @ turn),
        ],
        axis=1,
    )


def calc_shares(contacts: GraspContacts) -> tuple[Vector, Vector]:
    """Returns the share of its friction bound that each contact uses, and that of torsion, (n,) [-]."""
    torsion = np.einsum("ni,ni->n", contacts.normal, contacts.torque)
    rolling = contacts.torque - torsion[:, None] * contacts.normal

    def calc_share(used: Vector, coefficient: Vector) -> Vector:
        bound = coefficient * contacts.force
        return np.divide(used, bound, out=np.zeros_like(used), where=bound > 0)

    of_torsion = calc_share(np.abs(torsion), contacts.torsion)
    of_slip = calc_share(np.linalg.norm(contacts.tangential, axis=1), contacts.friction)
    of_rolling = calc_share(np.linalg.norm(rolling, axis=1), contacts.rolling)
    return np.sqrt(of_slip**2 + of_torsion**2 + of_rolling**2), of_torsion


def find_grasp_axis(contacts: GraspContacts) -> Vector:
    """Returns the direction in which the contacts press most, a unit vector, (3,)."""
    squeeze = (contacts.normal * contacts.force[:, None]).T @ contacts.normal
    axis: Vector = np.linalg.eigh(squeeze)[1][:, -1]
    oriented: Vector = axis * np.sign(axis[np.argmax(np.abs(axis))])
    return oriented


def calc_torsional_limit(contacts: GraspContacts, axis: Vector) -> float:
    """Returns the largest torque about a unit axis a that friction carries without another load [N m]."""
    weight = contacts.force
    if not np.any(weight > 0):
        return 0.0
    # v_i / omega = P_i (a x (p_i - c)), with P_i the projection on the tangent plane.
    turn = np.tile(axis[:, None], (len(weight), 1, 1))
    constant = _scale_motions(contacts, np.cross(axis, contacts.point)[:, :, None], turn)[:, :, 0]
    cross = np.tile(np.cross(axis, np.eye(3)).T, (len(weight), 1, 1))  # a x c = cross c
    linear = _scale_motions(contacts, cross, np.zeros_like(cross))
    center = np.average(contacts.point, axis=0, weights=weight)
    return _find_least_power(weight, constant, linear, [center, *contacts.point])


def _find_least_power(
    weight: Vector, constant: Vector, linear: Vector, starts: Sequence[Vector]
) -> float:
    """Returns the minimum over c, (m,), of sum_i weight_i |constant_i - linear_i c|.

    Weiszfeld's iterations find the minimum of the smoothed power, sum_i weight_i sqrt(|.|^2 + eps^2), and
    eps falls. They begin at the first start; the minimum may be at any start.
    """

    def calc_speeds(center: Vector) -> Vector:
        speeds: Vector = np.linalg.norm(constant - linear @ center, axis=1)
        return speeds

    center: Vector = starts[0]
    largest = float(calc_speeds(center).max(initial=0.0))
    for i in range(_MAX_ITERATIONS):
        eps = max(largest * _COOLING**i, _SMALL)
        root = np.sqrt(weight / np.hypot(calc_speeds(center), eps))[:, None]
        rows = (root[:, :, None] * linear).reshape(-1, linear.shape[2])
        last = center
        center = np.asarray(np.linalg.lstsq(rows, (root * constant).ravel(), rcond=1e-12)[0], float)
        if eps <= _ROUND_OFF * largest and np.linalg.norm(center - last) < _SMALL:
            break
    return min(float(weight @ calc_speeds(c)) for c in (*starts, center))
