"""Predicts the artifacts of the contact models, which [castro2023] lists in Table I.

A convex model changes the contact while it slips, so that its step has one solution. Inserting
z = v_n - mu |v_t| for v_n in a normal law gives

    similar   f = k (1 + mu d |v_t|) (x + mu dt |v_t|) (1 - d v_n / (1 + mu d |v_t|))
    sap       f = k / (1 + mu~^2) (x - tau v_n + mu (dt + tau) |v_t|),   mu~^2 = mu^2 R_t / R_n

with the penetration x: a gap, another stiffness and another dissipation. All other models have none
of these. In place of |v_t| `similar` has the soft norm |v_t|_s, and `sap` has 0 below its transition
speed, where it sticks. Source: [castro2023] section VII and Table I; [theory:model-properties].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stiction._core import calc_normal_law, contact_model_traits
from stiction.analysis.artifacts.chord import predict_chord_drift
from stiction.analysis.artifacts.creep import calc_slip_share, find_friction_function

MIN_REGULARIZATION = 1e-9  # the smallest sigma of `sap`, see Sap::make_parameters


@dataclass(frozen=True)
class PairProperties:
    """The properties of the contact of two geoms.

    Attributes:
        friction: coefficient of sliding friction mu [-].
        stiffness: k of the normal law [N/m]; infinite if near-rigid, None if the law has no stiffness.
        dissipation: d of Hunt and Crossley [s/m]; 0 if the normal law does not use it.
        relaxation_time: tau of the linear law [s]; 0 if the normal law does not use it.
        static_friction: coefficient of contacts that have not yielded [-]; None: that of friction.
    """

    friction: float
    stiffness: float | None = math.inf
    dissipation: float = 0.0
    relaxation_time: float = 0.0
    static_friction: float | None = None


@dataclass(frozen=True)
class OperatingPoint:
    """The state of a contact for which artifacts are predicted.

    Attributes:
        slip_speed: speed |v_t| while the contact slides [m/s].
        normal_force: mean normal force of one contact [N].
        mobility: w of the contact point, ContactReport.delassus [1/kg].
        load_share: tangential load of a sticking contact over mu times its normal force, in [0, 1) [-].
        turning: acceleration by which the path of a sticking contact curves, see artifacts.chord
            [m/s^2].
    """

    slip_speed: float
    normal_force: float
    mobility: float
    load_share: float = 0.2
    turning: float = 0.0


@dataclass(frozen=True)
class Artifacts:
    """The row of Table I for one contact: of a model, or as measured. None means unknown.

    Attributes:
        gliding_gap: height by which sliding lifts the surfaces apart [m].
        stiffness_factor: effective stiffness of a sliding contact over that of the normal law [-].
        stiffness: this effective stiffness [N/m].
        dissipation: effective dissipation of a sliding contact; d [s/m], or tau [s] of a linear law.
        dissipation_lost: share of the dissipation that a sliding contact lacks, 1 - d_eff/d [-].
        transition_speed: slip speed between stiction and sliding [m/s].
        creep: slip speed of a sticking contact at the load share of the operating point [m/s].
        chord_drift: speed at which a sticking contact slips because a free body moves along chords, see
            artifacts.chord [m/s]; None if the path is straight, and under error control. It is 0 under
            friction_law 'elastic'.
    """

    gliding_gap: float | None = None
    stiffness_factor: float | None = None
    stiffness: float | None = None
    dissipation: float | None = None
    dissipation_lost: float | None = None
    transition_speed: float | None = None
    creep: float | None = None
    chord_drift: float | None = None


def is_predicted(contact_model: str) -> bool:
    """True if the artifacts of a contact model are known: those of all models but `mujoco`."""
    return not contact_model_traits(contact_model).is_mj_step


def predict_artifacts(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> Artifacts:
    """Predicts all artifacts of a contact.

    Args:
        options: Simulator.options.
        pair: properties of the contact.
        at: the state for which they are predicted.
    """
    traits = contact_model_traits(options["contact_model"])
    turns = at.turning > 0
    # The springs of 'elastic' follow the motion of the bodies, not its linear part.
    turning = 0.0 if has_springs(options) else at.turning
    drift = predict_chord_drift(options["time_step"], turning) if turns else None
    if traits.is_mj_step:
        return Artifacts(chord_drift=drift)
    creep = calc_creep(options, pair, at)
    speed = calc_transition_speed(options, pair, at)
    gap = calc_gliding_gap(options, pair, at)
    if traits.is_rigid:
        return Artifacts(gliding_gap=gap, transition_speed=speed, creep=creep, chord_drift=drift)
    factor = calc_stiffness_factor(options, pair, at)
    k = calc_stiffness(options, pair, at)
    is_linear = is_linear_law(options)
    own = pair.relaxation_time if is_linear else pair.dissipation
    kept = calc_dissipation_factor(options, pair, at)
    return Artifacts(
        gliding_gap=gap,
        stiffness_factor=factor,
        stiffness=None if k is None else k * factor,
        dissipation=own * kept,
        dissipation_lost=1 - kept if own > 0 else 0.0,
        transition_speed=speed,
        creep=creep,
        chord_drift=drift,
    )


def has_springs(options: Mapping[str, Any]) -> bool:
    """True if contacts stick by springs, friction_law 'elastic'. Other models refuse this law."""
    return options.get("friction_law") == "elastic"


def is_linear_law(options: Mapping[str, Any]) -> bool:
    """True if the normal law is k (x + tau xdot), which has a relaxation time."""
    traits = contact_model_traits(options["contact_model"])
    return traits.acts_ahead or (traits.takes_laws and options["normal_law"] == "linear")


def calc_gliding_gap(options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint) -> float:
    """Returns the gap on which a sliding body glides [m].

        similar             mu dt |v_t|_s
        sap, linear laws    mu (dt + tau) |v_t|, or |v_t|_s
        all others          0

    Source: [castro2023] eq. (41) and section VII.A.
    """
    if not contact_model_traits(options["contact_model"]).lifts_sliding:
        return 0.0
    delay = pair.relaxation_time if is_linear_law(options) else 0.0
    time_step: float = options["time_step"]
    return pair.friction * (time_step + delay) * calc_coupled_slip(options, pair, at)


def calc_coupled_slip(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> float:
    """Returns the slip speed by which sliding acts on the normal force [m/s].

        similar             |v_t|_s = eps F(|v_t| / eps), with the transition speed eps
        sap                 |v_t|, or 0 while the contact sticks
        all others          0

    Source: [castro2023] eqs. (25), (45); [theory:similar].
    """
    traits = contact_model_traits(options["contact_model"])
    if not traits.lifts_sliding:
        return 0.0
    eps = calc_transition_speed(options, pair, at) or 0.0
    if traits.acts_ahead:
        return at.slip_speed if at.slip_speed > eps else 0.0
    law = find_friction_function(options["friction_law"])
    return law.calc_soft_norm(at.slip_speed, eps) if eps > 0 else at.slip_speed


def calc_stiffness_factor(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> float:
    """Returns the stiffness of a sliding contact over that of its normal law [-].

        sap                            1 / (1 + mu^2 R_t / R_n)
        similar with hunt_crossley     1 + mu d |v_t|_s
        similar with a table           the same with d = D'(0) / D(0) of the table
        all others                     1

    A contact that does not slip has its own stiffness. The law `hertz` and the barriers have no
    constant stiffness; for these the factor is that of the force, with 3/2 d in place of d for
    `hertz`. Source: [castro2023] section VII.B.
    """
    traits = contact_model_traits(options["contact_model"])
    slip = calc_coupled_slip(options, pair, at)
    if slip == 0:
        return 1.0
    if traits.acts_ahead:
        R_t, R_n = _calc_sap_regularization(options, pair, at)
        return 1 / (1 + pair.friction**2 * R_t / R_n)
    if is_linear_law(options):
        return 1.0
    return 1 + pair.friction * _calc_damping(options, pair) * slip


def calc_dissipation_factor(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> float:
    """Returns the dissipation of a sliding contact over that of its normal law [-].

        similar with hunt_crossley     1 / (1 + mu d |v_t|_s)
        all others                     1

    `sap` keeps its relaxation time. Source: [castro2023] section VII.B.
    """
    if contact_model_traits(options["contact_model"]).acts_ahead:
        return 1.0
    return 1 / calc_stiffness_factor(options, pair, at)


def calc_stiffness(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> float | None:
    """Returns the stiffness of a contact that does not slip [N/m]; None if it is not constant.

        near-rigid    k = (2 pi / dt)^2 / w
        sap           k = min(k, 4 pi^2 / (beta^2 w dt (dt + tau)))

    Source: [theory:near-rigid]; [castro2022] section V.B. A near-rigid contact beside a body of more
    than ten times the mass is up to 1000 times as stiff, which is not included.
    """
    law = options["normal_law"]
    takes_laws = contact_model_traits(options["contact_model"]).takes_laws
    if pair.stiffness is None or (takes_laws and law not in ("hunt_crossley", "linear")):
        return None
    dt, w = options["time_step"], at.mobility
    if not w > 0:
        return None
    if not contact_model_traits(options["contact_model"]).acts_ahead:
        return pair.stiffness if math.isfinite(pair.stiffness) else (2 * math.pi / dt) ** 2 / w
    _, R_n = _calc_sap_regularization(options, pair, at)
    return 1 / (R_n * dt * (dt + pair.relaxation_time)) if R_n > 0 else math.inf


def calc_transition_speed(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> float | None:
    """Returns the slip speed at which stiction ends and sliding begins [m/s].

        sap                                        sigma w mu gamma_n
        lagged, tamsi                              v_s
        lagged_regularized, similar, coulomb       max(v_s, sigma w mu gamma_n)
        rigid models                               0; None for `viscous`, which never sticks
        friction_law 'elastic'                     0

    Source: [castro2023] eqs. (42) and (44).
    """
    traits = contact_model_traits(options["contact_model"])
    if traits.is_rigid:
        return None if traits.has_viscous_friction else 0.0
    if has_springs(options):
        return 0.0
    bound = pair.friction * at.normal_force * options["time_step"]
    sigma = options["friction_regularization"]
    if not traits.uses_stiction_tolerance:
        return float(max(sigma, MIN_REGULARIZATION) * at.mobility * bound)
    v_s: float = options["stiction_tolerance"]
    if not traits.uses_friction_regularization:
        return v_s
    return float(max(v_s, sigma * at.mobility * bound))


def calc_creep(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> float | None:
    """Returns the slip speed of a contact that sticks under a tangential load [m/s].

    It is eps s, where eps is the transition speed and s the slip at which the model's function of
    friction has the value rho, the load over the friction bound: s / sqrt(1 + s^2) = rho for the law
    `soft`, s = rho for `sap`, and s (2 - s) = rho for `tamsi`.

    Source: [castro2023] section V; docs/contact_models.md, "Stiction creeps, by a known amount".
    """
    speed = calc_transition_speed(options, pair, at)
    if not speed:
        return speed
    if pair.friction == 0:
        return None
    return speed * calc_slip_share(options, at.load_share)


def describe_stiffening(
    options: Mapping[str, Any], pair: PairProperties, slip_speed: float
) -> str | None:
    """Returns a sentence if slip makes a contact of `similar` at least a tenth stiffer, else None."""
    traits = contact_model_traits(options["contact_model"])
    if traits.is_rigid or traits.is_mj_step:
        return None
    at = OperatingPoint(slip_speed, 0.0, 1.0)
    factor = calc_stiffness_factor(options, pair, at)
    if factor < _WORTH_SAYING:
        return None
    return (
        f"slip at {slip_speed:.3g} m/s makes it {factor:.3g} times as stiff and its dissipation "
        f"{factor:.3g} times smaller under '{options['contact_model']}', by 1 + mu d |v_t| with "
        f"mu = {pair.friction:.3g} and d = {_calc_damping(options, pair):.3g} s/m; use 'coulomb' or "
        "'lagged_regularized', or a smaller dissipation, if its bounce or its force while sliding "
        "matters"
    )


_WORTH_SAYING = 1.1  # factors below this are not mentioned


def _calc_damping(options: Mapping[str, Any], pair: PairProperties) -> float:
    """Returns the factor e of 1 - e v_n in the normal law [s/m]; of a table D'(0) / D(0)."""
    law = options["normal_law"]
    if not isinstance(law, str):
        force, _, damping = calc_normal_law(law, law["penetration"][-1:], [0.0])
        return float(damping[0] / force[0]) if force[0] > 0 else 0.0
    return 1.5 * pair.dissipation if law == "hertz" else pair.dissipation


def _calc_sap_regularization(
    options: Mapping[str, Any], pair: PairProperties, at: OperatingPoint
) -> tuple[float, float]:
    """Returns R_t and R_n of `sap` [1/kg].

    R_t = sigma w,   R_n = max(beta^2 w / (4 pi^2), 1 / (dt k (dt + tau))).   [castro2022] V.B
    """
    dt, w = options["time_step"], at.mobility
    R_t = max(options["friction_regularization"], MIN_REGULARIZATION) * w
    near_rigid = (options["near_rigid_factor"] / (2 * math.pi)) ** 2 * w
    given = pair.stiffness is not None and math.isfinite(pair.stiffness)
    k = pair.stiffness if given else (2 * math.pi / dt) ** 2 / w
    return R_t, max(near_rigid, 1 / (dt * k * (dt + pair.relaxation_time)))
