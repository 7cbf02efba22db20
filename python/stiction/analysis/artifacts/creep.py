"""Predicts the creep of a held body from each contact model's regularization of friction.

All contacts of a grasp slip with one speed v, at which their friction carries the load f_t. The
friction of one contact, as the impulse of a step dt or as a force, is:

    sap                              gamma_t = v / (sigma w)
    lagged, lagged_regularized,      gamma_t = mu gamma_n v / sqrt(v^2 + eps^2),
      similar, coulomb                 eps = v_s, or max(v_s, sigma w mu gamma_n)
    tamsi                            gamma_t = mu gamma_n (2 - x) v / v_s,
                                       x = sqrt(v^2 + (v_s / 100)^2) / v_s < 1
    rigid models except `viscous`    any value at v = 0: no creep
    mujoco, within the friction cone f_t = v b / R_t, from a_ref = -b v = R_t f_t at rest; with its
                                     noslip solver, no prediction

The lagged models' and `similar`'s equations hold for the friction law 'soft'. In general gamma_t =
mu gamma_n f(v / eps). Equal contacts of `lagged` slip with v = v_s rho / sqrt(1 - rho^2), where
rho = f_t / (mu f_n). The functions of friction are, by the name of their law:

    law          share f(s)                  integral F(s)
    soft         s / sqrt(1 + s^2)           sqrt(1 + s^2) - 1
    quadratic    s (2 - s), 1 from s = 1     s^2 - s^3 / 3, s - 1/3 from s = 1
    arctan       2/pi atan s                 2/pi (s atan s - ln(1 + s^2) / 2)

s is the slip speed in units of the slip tolerance eps. The share f(s) of the friction bound acts at that
slip, and eps F(s) is the soft norm of the slip, by which `similar` moves its normal law. The solver has
its own copy in C++, so that predictions do not repeat its mistakes.
Sources: [castro2023] sections V and VI; [castro2020]; [theory:friction-regularization]; MuJoCo's
documentation, chapter Computation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction import StepReport
from stiction._core import calc_friction_law, contact_model_traits
from stiction.runs.held_body import HeldBody

Law = str | Mapping[str, Any]
Vector = NDArray[np.float64]

# If normal forces carry all but this fraction of the weight, friction does not carry the load.
_MAX_NORMAL_SHARE = 0.02
_MIN_SLIDING = 0.02  # contacts that slip less than this share of the speed carry nothing


@dataclass(frozen=True)
class FrictionFunction:
    """A friction law as functions of s >= 0: the share f, its inverse `slip`, and the integral F."""

    share: Callable[[Any], Any]
    slip: Callable[[float], float]
    integral: Callable[[float], float]

    def calc_soft_norm(self, speed: float, tolerance: float) -> float:
        """Returns eps F(|v_t| / eps), which is |v_t| far above the tolerance and 0 far below it [m/s]."""
        return tolerance * self.integral(speed / tolerance)


def find_friction_function(law: Law) -> FrictionFunction:
    """Returns the functions of a law: its name, which is not 'elastic', or the content of its table."""
    return _NAMED[law] if isinstance(law, str) else _tabulate(law)


_NAMED = {
    "soft": FrictionFunction(
        share=lambda s: s / np.hypot(1, s),
        slip=lambda rho: float(rho / np.sqrt(1 - rho * rho)),
        integral=lambda s: float(s * s / (1 + np.hypot(1, s))),
    ),
    "quadratic": FrictionFunction(
        share=lambda s: np.where(s < 1, s * (2 - s), 1.0),
        slip=lambda rho: float(rho / (1 + np.sqrt(1 - rho))),
        integral=lambda s: s * s * (1 - s / 3) if s < 1 else s - 1 / 3,
    ),
    "arctan": FrictionFunction(
        share=lambda s: 2 / np.pi * np.arctan(s),
        slip=lambda rho: float(np.tan(np.pi / 2 * rho)),
        integral=lambda s: float(2 / np.pi * (s * np.arctan(s) - 0.5 * np.log1p(s * s))),
    ),
}


def _tabulate(content: Mapping[str, Any]) -> FrictionFunction:
    table, knots = dict(content), np.asarray(content["slip"], float)

    def calc_share(s: Any) -> Any:
        values = calc_friction_law(table, np.ravel(s).tolist())
        return np.reshape(values, np.shape(s))[()]

    def find_slip(share: float) -> float:
        low, high = 0.0, float(knots[-1])
        while high - low > 1e-14 * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if calc_share(middle) < share else (low, middle)
        return 0.5 * (low + high)

    def integrate(s: float) -> float:
        ends = np.append(knots[knots < s], s)
        ends = np.append(ends[ends < knots[-1]], min(s, knots[-1]))
        f, middle = calc_share(ends), calc_share(0.5 * (ends[1:] + ends[:-1]))
        # Simpson's rule is exact for the cubics between the knots. Beyond the last one f is 1.
        inside = np.sum(np.diff(ends) * (f[1:] + f[:-1] + 4 * middle)) / 6
        return float(inside + max(s - knots[-1], 0.0))

    return FrictionFunction(calc_share, find_slip, integrate)


def predict_creep(
    held: HeldBody,
    report: StepReport,
    data: mujoco.MjData,
    model: mujoco.MjModel,
    options: dict[str, Any],
) -> float | None:
    """Predicts the slip speed at which friction carries the held body's weight [m/s].

    The report gives the normal impulses, and the data the regularization of 'mujoco'. Returns None
    if friction cannot carry the weight or does not have to, because the body lies on something; also for
    'viscous', and for 'mujoco' with its noslip solver, whose remaining creep is an error of that solver.
    """
    contacts = report.contacts
    touching, signs = held.find_contacts(contacts), held.find_signs(contacts)
    dt = float(options["time_step"])
    gamma_n = contacts.normal_impulse[touching]
    normal = signs[:, None] * contacts.normal[touching]  # into the body
    # The load of friction. A normal force from above adds to the weight.
    rest = held.load * dt * held.down + gamma_n @ normal
    load = float(np.linalg.norm(rest))
    if load <= _MAX_NORMAL_SHARE * held.load * dt:
        return None
    # At a motion of the body along this load, contact i slips with the share q_i of its speed, and the
    # same share of its friction acts against the load.
    along = rest / load
    q = np.sqrt(np.maximum(1 - (normal @ along) ** 2, 0))
    pulls = (gamma_n > 0) & (q > _MIN_SLIDING)
    touching, gamma_n, q = touching[pulls], gamma_n[pulls], q[pulls]
    bound = contacts.friction[touching] * gamma_n * q
    if bound.sum() <= load or contacts.slipping[touching].all():
        return None
    downward = float(along @ held.down)
    traits = contact_model_traits(options["contact_model"])
    if traits.is_mj_step:
        if model.opt.noslip_iterations > 0:
            return None
        pairs = contacts.geoms[touching]
        return downward * load / (dt * _calc_mujoco_resistance(model, data, pairs))
    if traits.is_rigid:
        # Viscous friction slips as fast as the load drives it.
        return None if traits.has_viscous_friction else 0.0
    w = contacts.delassus[touching]
    sigma = options["friction_regularization"]
    if not traits.uses_stiction_tolerance:  # sap, which slips because of its regularization
        floor = 1e-9  # the smallest sigma of the model, see Sap::make_parameters
        return downward * load / float(np.sum(q * q / (max(sigma, floor) * w)))
    v_s = options["stiction_tolerance"]
    if not traits.takes_laws:  # tamsi, which has a friction law of its own
        return downward * solve_tamsi_creep(load / float(bound.sum()), v_s)
    if options["friction_law"] == "elastic":  # springs carry the load
        return 0.0
    is_regularized = traits.uses_friction_regularization
    eps = np.maximum(v_s, sigma * w * bound / q) if is_regularized else np.full(len(w), v_s)
    for i, pair in enumerate(contacts.geoms[touching]):
        law = find_elliptic_law(model, data, pair)
        if law is not None:
            eps[i] = v_s * law.scale / law.friction[:2].mean()
    return downward * solve_creep(bound, eps / q, load, options["friction_law"])


@dataclass(frozen=True)
class EllipticLaw:
    """Friction of a contact with torsion, rolling or unequal tangents under the lagged models.

    friction: coefficients of two tangents [-], torsion and two directions of rolling [m], (5,).
    scale: tolerance of the slips mu_i u_i over stiction_tolerance [-], [theory:elliptic-cone].
    """

    friction: Vector
    scale: float

    def calc_rotation(self, share: float, torque_share: float, v_s: float, law: Law) -> float:
        """Returns the speed at which the contact turns about its normal [rad/s].

        `share` in [0, 1) is that of the whole friction bound in use, `torque_share` that of torsion's.
        """
        if share == 0 or self.friction[2] == 0:
            return 0.0
        slip = find_friction_function(law).slip(share)
        return float(v_s * self.scale * slip * torque_share / share / self.friction[2])


def find_elliptic_law(
    model: mujoco.MjModel, data: mujoco.MjData, pair: NDArray[np.int32]
) -> EllipticLaw | None:
    """Returns the law of two geoms that touch; None if one coefficient makes all of their friction."""
    for contact in data.contact:
        if set(contact.geom.tolist()) != set(pair.tolist()):
            continue
        friction = np.where(np.arange(5) < contact.dim - 1, contact.friction, 0.0)
        if contact.dim <= 3 and friction[0] == friction[1]:
            return None
        radii = model.geom_rbound[contact.geom]
        size = float(radii[radii > 0].min(initial=np.inf))
        at_rim = friction / np.array([1, 1, size, size, size])
        largest = at_rim.max()
        return EllipticLaw(friction, max(float(at_rim[at_rim > 0].min()), 1e-3 * float(largest)))
    return None


def calc_slip_share(options: Mapping[str, Any], share: float) -> float:
    """Returns the slip over its tolerance at which friction has a share in [0, 1) of its bound [-]."""
    traits = contact_model_traits(options["contact_model"])
    if not traits.uses_stiction_tolerance:  # sap
        return share
    if not traits.takes_laws:  # tamsi
        return solve_tamsi_creep(share, 1.0)
    if options["friction_law"] == "elastic":  # springs carry the load, at any slip tolerance
        return 0.0
    return find_friction_function(options["friction_law"]).slip(share)


def solve_creep(bound: Vector, eps: Vector, load: float, friction_law: Law = "soft") -> float:
    """Returns the root v of sum_i bound_i f(v / eps_i) = load [m/s].

    Shapes and units: bounds mu gamma_n [N s], (n,); slip tolerances eps > 0 [m/s], (n,); a tangential
    impulse, above 0 and below the sum of the bounds [N s].
    """
    law = find_friction_function(friction_law)
    speed = law.slip(load / bound.sum())
    low, high = speed * eps.min(), speed * eps.max()  # equal to the root if all eps are equal
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        friction = np.sum(bound * law.share(middle / eps))
        low, high = (middle, high) if friction < load else (low, middle)
    return float(0.5 * (low + high))


def solve_tamsi_creep(rho: float, v_s: float) -> float:
    """Returns the root v of (2 - x) v / v_s = rho [m/s], where x = sqrt(v^2 + (v_s / 100)^2) / v_s."""
    low, high = 0.0, 1.0  # bounds of v / v_s
    while high - low > 1e-14:
        middle = 0.5 * (low + high)
        share = (2 - np.hypot(middle, 0.01)) * middle
        low, high = (middle, high) if share < rho else (low, middle)
    return v_s * 0.5 * (low + high)


def _calc_mujoco_resistance(
    model: mujoco.MjModel, data: mujoco.MjData, pairs: NDArray[np.int32]
) -> float:
    """Returns the sum of b / R_t over the contacts of some pairs of geoms [N s/m]."""
    wanted = {tuple(sorted(pair)) for pair in pairs.tolist()}
    pyramidal = model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    total = 0.0
    for contact in data.contact:
        row = contact.efc_address
        if row < 0 or contact.dim == 1 or tuple(sorted(contact.geom.tolist())) not in wanted:
            continue
        if pyramidal:
            # Friction is the difference of two edges J_n +- mu J_t: f_t = 2 mu^2 b v / R.
            total += 2 * contact.friction[0] ** 2 * data.efc_KBIP[row, 1] / data.efc_R[row]
        else:
            total += data.efc_KBIP[row + 1, 1] / data.efc_R[row + 1]
    return float(total)
