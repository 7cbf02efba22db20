"""The balance of energy of friction and of its springs, under friction_law 'elastic'.

A contact that sticks is a spring with the energy U = k |u|^2 / 2, so friction may give energy back:

    gamma_t . (v_t + a / dt) + U_end - U_start <= 0        in every step [theory:anchors].

Here a is the way beyond dt v_t that the step expects from the arcs of the bodies. The recorded slip
velocities contain a / dt. A recording has the springs at the end of each step (topic /anchors). To
the start of the next step they are carried by the motion of the bodies: a stretch u turns with the
surfaces, and grows by the part of their motion that the step did not expect, which is not dt v + a.
Here this part is computed anew from the recorded states, as a bound on its length. What contacts
hand to others of the same two geoms gains no energy, so the balance is that of all springs of two
geoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.verify.contacts import StepContacts
from stiction.analysis.verify.step_checks import Violation

Vector = NDArray[np.float64]
Geoms = NDArray[np.int32]

_SINGLE = 1e-6  # rounding of energies from numbers in single precision [-]


@dataclass(frozen=True)
class Springs:
    """The energy [J], (n,), of the springs of each two geoms, the smaller id first, (n, 2)."""

    geoms: Geoms
    energy: Vector


@dataclass(frozen=True)
class Arcs:
    """The way [m] beyond dt v that a step expects of each two geoms, (n, 3), the smaller id first."""

    geoms: Geoms
    way: Vector

    def find(self, geoms: Geoms) -> Vector:
        """Returns the way of each of these pairs; 0 if it has none, (n, 3)."""
        known = {(a, b): w for (a, b), w in zip(self.geoms.tolist(), self.way, strict=True)}
        pairs = np.sort(np.asarray(geoms).reshape(-1, 2), axis=1).tolist()
        return np.array([known.get((a, b), np.zeros(3)) for a, b in pairs]).reshape(-1, 3)


def find_arcs(contacts: StepContacts, velocity: Vector, time_step: float) -> Arcs:
    """Returns the expected arcs from recorded slip velocities, which contain them.

    `velocity` [m/s], (n, 3), is that of contacts at the end of the step.
    """
    pairs, index = _find_pairs(contacts.geoms)
    arc = time_step * (contacts.slip_velocity - contacts.project(velocity))
    total = np.zeros((len(pairs), 3))
    np.add.at(total, index, arc)
    return Arcs(pairs, total / np.bincount(index, minlength=len(pairs))[:, None])


def sum_springs(
    anchors: NDArray[np.void], stiffness: Vector, growth: Vector | float = 0
) -> Springs:
    """Returns the energy of anchors with a stiffness [N/m] and a growth of stretches [m], (n,)."""
    stretch = np.linalg.norm(anchors["stretch"].astype(float), axis=1) + growth
    geoms, index = _find_pairs(anchors["geoms"])
    energy = np.bincount(index, 0.5 * stiffness * stretch**2, len(geoms)).astype(float)
    return Springs(geoms, energy)


def calc_spring_share(explanation: dict[str, Any]) -> float:
    """Returns the stiffness along the surface over the recorded one, (mu / mu_max)^2 [-].

    It is 1 unless torsion or rolling have the largest coefficient mu_max, and NaN if friction depends
    on the direction.
    """
    friction = {
        n["name"]: float(n["value"])
        for n in explanation["numbers"]
        if "friction" in n["name"]
        and n["name"] not in ("friction_regularization", "static_friction")
    }
    if "friction" not in friction:
        return float("nan")
    largest = max(friction.values())
    return (friction["friction"] / largest) ** 2 if largest > 0 else 0.0


def carry_springs(
    anchors: NDArray[np.void],
    stiffness: Vector,
    last: mujoco.MjData,
    now: mujoco.MjData,
    contacts: StepContacts,
    arcs: Arcs,
    time_step: float,
) -> Springs:
    """Returns the energy that the springs of a step have at most at the start of the next one.

    `last` has the positions at the start of the step and the velocities at its end, `now` the positions
    at its end; the contacts are those of the next step, and the arcs those that the step expected.
    """
    point = anchors["position"].astype(float)
    moved, linear = np.zeros_like(point), np.zeros_like(point)
    arc = arcs.find(anchors["geoms"])
    turn, way = np.zeros(len(point)), np.zeros(len(point))
    for side, sign in ((0, -1.0), (1, 1.0)):
        bodies = anchors["bodies"][:, side]
        for body in np.unique(bodies):
            own = bodies == body
            motion = _BodyMotion(last, now, int(body), time_step)
            moved[own] += sign * motion.move(point[own])
            linear[own] += sign * motion.move_linearly(point[own])
            turn[own] += motion.angle
            way[own] += motion.angle * np.linalg.norm(point[own] - last.xpos[body], axis=1)
    # A stretch grows by P (moved - R (linear + arc)), where P projects on the new tangent plane and R
    # carries the old plane to it. A contact that rolls adds the difference of its arc and the chord.
    tilt = np.minimum(turn + _calc_tilt(anchors, contacts), 1)
    expected = linear + arc
    growth = np.linalg.norm(moved - expected, axis=1)
    growth += 2 * tilt * np.linalg.norm(expected, axis=1)
    growth += 0.5 * tilt**2 * way
    return sum_springs(anchors, stiffness, growth)


def check_spring_work(
    contacts: StepContacts, slip: Vector, tolerance: Vector, start: Springs, end: Springs
) -> Violation:
    """Checks that friction gives back at most the energy of its springs [J]. NaN is left out.

    `slip` [m/s], (n, 3), is the velocity that springs see, v_t + a / dt, and `tolerance` its error, (n,).
    """
    pairs, index = _find_pairs(contacts.geoms)
    size = np.linalg.norm(contacts.tangential_impulse, axis=1)
    work = np.sum(contacts.tangential_impulse * slip, axis=1)
    speed = np.linalg.norm(slip, axis=1)
    error = size * (1e-5 * speed + tolerance) + contacts.rounding * speed
    before, after = (_find_energies(springs, pairs) for springs in (start, end))
    excess = np.bincount(index, work, len(pairs)) + after - before
    limit = np.bincount(index, error, len(pairs)) + _SINGLE * (after + before) + 1e-16
    known = np.isfinite(excess)
    if not np.any(excess[known] > 0):
        return Violation()
    shares = np.where(known, excess / limit, -np.inf)
    worst = int(np.argmax(shares))
    geom1, geom2 = pairs[worst]
    return Violation(float(shares[worst]), float(excess[worst]), f"geoms {geom1} and {geom2}")


class _BodyMotion:
    """The motion of a body in a step, and its linear part dt v."""

    def __init__(
        self, last: mujoco.MjData, now: mujoco.MjData, body: int, time_step: float
    ) -> None:
        self._before, self._after = last.xpos[body], now.xpos[body]
        first, second = last.xmat[body].reshape(3, 3), now.xmat[body].reshape(3, 3)
        self._turn = second @ first.T - np.eye(3)
        speed = np.zeros(6)
        xbody = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(last.model, last, xbody, body, speed, 0)
        self._rotation, self._translation = time_step * speed[:3], time_step * speed[3:]
        # The Frobenius norm is 2 sqrt(2) sin(angle / 2); the factor covers the chord of the angle.
        angle = 1.1 * float(np.linalg.norm(self._turn)) / np.sqrt(2)
        #: At least the angle of the rotation [rad].
        self.angle = max(angle, float(np.linalg.norm(self._rotation)))

    def move(self, points: Vector) -> Vector:
        """Returns by how much the points of the body moved [m], (n, 3)."""
        arm = points - self._before
        return np.asarray((self._after - self._before) + arm @ self._turn.T)

    def move_linearly(self, points: Vector) -> Vector:
        """Returns dt v of points of the body [m], (n, 3)."""
        return np.asarray(self._translation + np.cross(self._rotation, points - self._before))


def _find_pairs(geoms: Geoms) -> tuple[Geoms, NDArray[np.intp]]:
    """Returns each two geoms once, the smaller id first, and the index of each row among them."""
    pairs, index = np.unique(
        np.sort(np.asarray(geoms).reshape(-1, 2), axis=1), axis=0, return_inverse=True
    )
    return pairs, index.reshape(-1)


def _find_energies(springs: Springs, pairs: Geoms) -> Vector:
    """Returns the energy of the springs of each of these pairs; 0 if they have none, (n,)."""
    known = {(a, b): e for (a, b), e in zip(springs.geoms.tolist(), springs.energy, strict=True)}
    return np.array([known.get((a, b), 0.0) for a, b in pairs.tolist()])


def _calc_tilt(anchors: NDArray[np.void], contacts: StepContacts) -> Vector:
    """Returns the largest angle of a spring's normal to those that its geoms have now [rad], (n,)."""
    sine = np.zeros(len(anchors))
    own, own_of = _find_pairs(anchors["geoms"])
    present, present_of = _find_pairs(contacts.geoms)
    for i, pair in enumerate(own):
        same = np.flatnonzero((present == pair).all(axis=1))
        if len(same):
            then = anchors["normal"][own_of == i].astype(float)
            now = contacts.normal[present_of == same[0]]
            crossed = np.linalg.norm(np.cross(then[:, None], now[None]), axis=2)
            sine[own_of == i] = crossed.max(axis=1)
    return 1.6 * sine  # more than the angle up to a right one
