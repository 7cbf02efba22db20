"""The checks of one recorded step. Each returns by how much it is violated, in units of its limit.

A value up to 1 passes. Contacts are recorded in single precision, which every limit allows for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.artifacts.predictions import PairProperties
from stiction.analysis.verify.contacts import SINGLE, StepContacts
from stiction.analysis.verify.impulses import StepStates
from stiction.analysis.verify.smooth_forces import calc_smooth_impulses

Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]

_DOUBLE = 1e-9  # rounding of positions in double precision [-]
_TOUCH = 2e-6  # distance at which surfaces count as touching [m]


@dataclass(frozen=True)
class Violation:
    """The largest violation of one check in a step.

    share: over what the check allows; above 1 it fails.
    place: element of the model, such as "joint 'lift'" or "contact 3"; may be empty.
    """

    share: float = 0.0
    value: float = 0.0
    place: str = ""


def check_momentum(
    states: StepStates,
    contacts: StepContacts,
    time_step: float,
    recorded_error: float,
    known: Flags,
    *,
    limits_act: bool,
) -> Violation:
    """Checks M (v - v_0) = dt f + J^T gamma [N s or N m s] of dofs with recorded impulses.

    recorded_error: momentum_error of the report [sqrt(J)].
    limits_act: as in calc_smooth_impulses.
    """
    model, data = states.model, states.start
    momentum = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, momentum, states.end.qvel - data.qvel)
    gamma, sizes = contacts.calc_generalized_impulses()
    smooth = calc_smooth_impulses(
        states.probe, data, states.end.qvel, gamma, time_step, limits_act=limits_act
    )
    rest = momentum - gamma
    excess = np.maximum(np.maximum(smooth.low - rest, rest - smooth.high), 0)
    # The certificate has a residual r with |D r| = momentum_error, D = diag(M)^(-1/2).
    diagonal = _calc_inertia_diagonal(model, data)
    # Linearized forces have errors of rounding of 2e-11.
    limit = SINGLE * sizes + 1e-10 * (sizes + np.abs(momentum) + smooth.size)
    limit += 1.1 * recorded_error * np.sqrt(diagonal) + 1e-14
    return _find_worst(excess, limit, known, lambda i: _name_dof(model, i))


def check_positions(states: StepStates, time_step: float) -> Violation:
    """Checks q = q_0 (+) dt v [1], the equation that ends a step of the integrator 'euler'."""
    model = states.model
    expected = states.start.qpos.copy()
    mujoco.mj_integratePos(model, expected, states.end.qvel, time_step)
    difference = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, difference, 1.0, expected, states.end.qpos)
    limit = _DOUBLE * (1 + np.max(np.abs(states.end.qpos), initial=0)) * np.ones(model.nv)
    return _find_worst(
        np.abs(difference), limit, np.ones(model.nv, bool), lambda i: _name_dof(model, i)
    )


def check_adhesion(contacts: StepContacts) -> Violation:
    """Checks that no contact pulls: gamma_n >= 0 [N s]."""
    return _find_worst_contact(-contacts.normal_impulse, contacts.rounding + 1e-14)


def calc_momentum_size(states: StepStates) -> float:
    """Returns the largest generalized momentum at the ends of a step [N s or N m s]."""
    model, momentum = states.model, np.zeros(states.model.nv)
    largest = 0.0
    for data in (states.start, states.end):
        mujoco.mj_mulM(model, states.start, momentum, data.qvel)
        largest = max(largest, float(np.abs(momentum).max(initial=0.0)))
    return largest


def check_cone(
    contacts: StepContacts, friction: Vector, coupling_error: float, momentum: float
) -> Violation:
    """Checks Coulomb's bound |gamma_t| <= mu gamma_n [N s]; mu is NaN if it is unknown.

    coupling_error: share of the normal impulses by which the bound may differ from mu gamma_n [-].
    momentum: size of the momentum, of which impulses have errors of rounding [N s].
    """
    bound = friction * contacts.normal_impulse
    excess = np.linalg.norm(contacts.tangential_impulse, axis=1) - bound
    size = np.linalg.norm(contacts.impulse, axis=1)
    # The solver's residual may leave these shares, see docs/certificates.md.
    limit = (SINGLE * (1 + friction) + 1e-5) * size + 1e-9 * size.max(initial=0.0) + 1e-14
    limit += 1e-15 * momentum
    limit += 1.1 * coupling_error * friction * contacts.normal_impulse.max(initial=0.0)
    return _find_worst_contact(excess, limit)


def check_friction_work(contacts: StepContacts, velocity: Vector, tolerance: Vector) -> Violation:
    """Checks that friction takes energy: gamma_t . v_t <= 0 at the end of the step [J]."""
    work = np.sum(contacts.tangential_impulse * velocity, axis=1)
    size = np.linalg.norm(contacts.tangential_impulse, axis=1)
    speed = np.linalg.norm(velocity, axis=1)
    limit = size * (1e-5 * speed + tolerance) + contacts.rounding * speed + 1e-16
    return _find_worst_contact(work, limit)


def check_touch(
    contacts: StepContacts,
    velocity: Vector,
    tolerance: Vector,
    gap: Vector,
    ahead: Vector,
    time_step: float,
) -> Violation:
    """Checks complementarity: a contact that presses is not apart at the end of the step [m].

    `velocity` [m/s], (n, 3), is that of contacts at the end of the step, and `tolerance` its error, (n,).
    `sap` presses before bodies touch, if they would within the relaxation time `ahead` [s], (n,).
    """
    normal_velocity = np.sum(velocity * contacts.normal, axis=1)
    # A contact that was deep presses while it parts, so the smaller of both distances counts.
    end = np.minimum(contacts.distance + time_step * normal_velocity, contacts.distance)
    reach = gap + ahead * np.maximum(-normal_velocity, 0)
    presses = contacts.normal_impulse > contacts.rounding + 1e-6 * max(
        float(contacts.normal_impulse.max(initial=0)), 1e-12
    )
    excess = np.where(presses, end - reach, -np.inf)
    size = np.abs(contacts.distance) + time_step * np.abs(normal_velocity) + np.abs(reach)
    return _find_worst_contact(excess, _TOUCH + 1e-4 * size + time_step * tolerance)


def check_law(
    contacts: StepContacts,
    velocity: Vector,
    tolerance: Vector,
    pairs: list[PairProperties | None],
    options: dict[str, Any],
) -> Violation:
    """Checks gamma_n = dt k x_+ (1 + d xdot)_+ at the end of the step [N s].

    It is the law of Hunt and Crossley [hunt1975]; under `similar` at z = v_n - mu |v_t| in place of
    v_n, [castro2023] eq. (34). Contacts without a stiffness of their own are left out.
    """
    dt = options["time_step"]
    normal_velocity = np.sum(velocity * contacts.normal, axis=1)
    slip = np.linalg.norm(contacts.project(velocity), axis=1)
    excess, limit = np.full(len(contacts), -np.inf), np.ones(len(contacts))
    for i, pair in enumerate(pairs):
        if pair is None or pair.stiffness is None or not np.isfinite(pair.stiffness):
            continue
        is_coupled = options["contact_model"] == "similar"
        eps = options["stiction_tolerance"]
        z = normal_velocity[i] - (pair.friction * slip[i] if is_coupled else 0.0)
        x = -contacts.distance[i] - dt * z
        law = dt * pair.stiffness * max(x, 0.0) * max(1 - pair.dissipation * z, 0.0)
        # The slope of the law times the errors of distance, velocity and of the soft norm of slip.
        soft = pair.friction * eps * 3 if is_coupled else 0.0
        error = SINGLE * abs(contacts.distance[i]) + dt * (soft + 1e-6 * abs(z) + tolerance[i])
        error += 1e-9
        slope = dt * pair.stiffness * (1 + pair.dissipation * (abs(z) + x / dt))
        excess[i] = abs(contacts.normal_impulse[i] - law)
        limit[i] = slope * error + 1e-4 * abs(law) + 1e-12
    return _find_worst_contact(excess, limit)


def check_energy(
    states: StepStates,
    contacts: StepContacts,
    velocity: Vector,
    time_step: float,
    springs: float = 0.0,
) -> Violation:
    """Checks that contacts add no energy to the free motion beyond that of their overlaps [J].

    Their gain is gamma . v_c - |J^T gamma|^2 / 2 in the norm of M^-1, with v_c at the end of the step;
    see docs/certificates.md, "Energy". At most f_n x may come back, the force times the overlap, and what
    tangential springs gave back [J].
    """
    gamma, _ = contacts.calc_generalized_impulses()
    change = np.zeros((1, states.model.nv))
    mujoco.mj_solveM(states.model, states.start, change, gamma[None, :])
    spent = 0.5 * float(gamma @ change[0])
    work = float(np.sum(contacts.impulse * velocity))
    returned = float(
        np.sum(
            np.maximum(contacts.normal_impulse, 0) / time_step * np.maximum(-contacts.distance, 0)
        )
    )
    excess = work - spent - returned - springs
    limit = 1e-5 * (float(np.sum(np.abs(contacts.impulse * velocity))) + spent)
    limit += 1e-4 * (returned + abs(springs))
    return Violation(max(excess, 0) / (limit + 1e-12), max(excess, 0.0))


def _calc_inertia_diagonal(model: mujoco.MjModel, data: mujoco.MjData) -> Vector:
    """Returns the diagonal of the inertia matrix, (nv,)."""
    ends = np.asarray(model.M_rowadr) + np.asarray(model.M_rownnz) - 1
    diagonal: Vector = np.asarray(data.M)[ends]
    return diagonal


def _name_dof(model: mujoco.MjModel, dof: int) -> str:
    joint = int(model.dof_jntid[dof])
    name = model.joint(joint).name
    return f"joint '{name}'" if name else f"dof {dof}"


def _find_worst_contact(excess: Vector, limit: Vector) -> Violation:
    known = np.isfinite(excess)
    return _find_worst(excess, limit, known, lambda i: f"contact {i}")


def _find_worst(excess: Vector, limit: Vector, known: Flags, name: Any) -> Violation:
    if not np.any(known):
        return Violation()
    shares = np.where(known, np.where(known, excess, 0) / limit, -np.inf)
    i = int(np.argmax(shares))
    if not shares[i] > 0:
        return Violation()
    return Violation(float(shares[i]), float(excess[i]), name(i))
