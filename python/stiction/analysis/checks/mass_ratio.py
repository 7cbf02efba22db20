"""Finds bodies that sink, or that the solver cannot resolve, under the load of heavier bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stiction._core import TOO_DEEP
from stiction.analysis.checks.subject import Finding, Subject

_FREE_RATIO, _MAX_STIFFENING = 10, 1000  # [theory:near-rigid]
_LAWS = ("hunt_crossley", "linear")  # of which a near-rigid spring is known

# The ratio of masses from which a step of a rigid model may fail: docs/contact_models.md.
_RIGID_LIMITS = {
    "stewart_trinkle": 1e4,
    "anitescu_potra": 1e4,
    "drumwright_shell": 1e4,
    "no_slip": 1e7,
    "viscous": 1e10,
}


class _Load(NamedTuple):
    body: int  # the body that carries
    geom: int  # its thinnest geom
    other: int  # the geom of the heavier tree that it may touch
    mass: float  # of the load [kg]
    mobility: float  # of the body [1/kg]

    @property
    def ratio(self) -> float:
        return self.mass * self.mobility


def covers(subject: Subject) -> bool:
    """Whether the effect of a load is known for the contact model and its normal law."""
    if subject.traits.is_rigid:
        return subject.contact_model in _RIGID_LIMITS
    return not subject.traits.is_mj_step and subject.simulator.options["normal_law"] in _LAWS


def check(subject: Subject) -> Iterator[Finding]:
    """Yields the bodies that sink by more than a tenth of their thickness under what they may carry."""
    for body in subject.moving_bodies():
        load = _find_load(subject, body)
        if load is None:
            continue
        found = (_check_rigid if subject.traits.is_rigid else _check_compliant)(subject, load)
        if found:
            yield found


def _find_load(subject: Subject, body: int) -> _Load | None:
    """Finds the heaviest tree that a body may carry. The body bears its own tree if that is free."""
    m = subject.model
    geoms = subject.geoms_of(body)
    may_touch = subject.may_touch(geoms)
    partners = np.flatnonzero(may_touch.any(axis=0) & (subject.tree >= 0))
    partners = partners[subject.tree[partners] != m.body_treeid[body]]
    mobility = float(m.body_invweight0[body, 0])
    if len(partners) == 0 or not mobility > 0:
        return None
    other = partners[np.argmax(subject.tree_mass[subject.tree[partners]])]
    geom = geoms[np.argmin(np.where(may_touch[:, other], subject.thickness[geoms], np.inf))]
    mass = float(subject.tree_mass[subject.tree[other]])
    root = m.body_rootid[body]
    if m.body_jntnum[root] and m.jnt_type[m.body_jntadr[root]] == mujoco.mjtJoint.mjJNT_FREE:
        mass += float(subject.tree_mass[m.body_treeid[body]])
    return _Load(body, int(geom), int(other), mass, mobility)


def _check_rigid(subject: Subject, load: _Load) -> Finding | None:
    limit = _RIGID_LIMITS[subject.contact_model]
    if load.ratio < limit:
        return None
    return Finding(
        "mass_ratio",
        f"{_describe(subject, load)}, {load.ratio:.2g} times what its contact moves; under "
        f"'{subject.contact_model}' steps may fail from a ratio of {limit:.0e} on; use a compliant "
        "contact model, or masses that differ less",
        {"body": load.body, "ratio": load.ratio, "limit": limit},
    )


def _check_compliant(subject: Subject, load: _Load) -> Finding | None:
    numbers = subject.explain(load.geom, load.other)
    if numbers is None:
        return None
    sink = calc_sink(subject, load.mass, load.mobility, numbers)
    thickness = float(subject.thickness[load.geom])
    if sink < TOO_DEEP * thickness:
        return None
    remedy = (
        "use 'coulomb', or take a smaller step or near_rigid_factor"
        if subject.traits.acts_ahead
        else "give both a larger stiffness, or take a smaller step"
    )
    return Finding(
        "mass_ratio",
        f"{_describe(subject, load)}; a contact under this load rests about {sink:.2g} m deep under "
        f"'{subject.contact_model}' at {subject.simulator.time_step:g} s, and "
        f"{subject.name_geom(load.geom)} is {thickness:.2g} m thick; {remedy}",
        {"body": load.body, "ratio": load.ratio, "depth": sink, "thickness": thickness},
    )


def calc_sink(subject: Subject, mass: float, mobility: float, numbers: dict[str, Any]) -> float:
    """Returns the depth at which one contact of a body with a mobility [1/kg] carries a mass at rest [m].

    Source: [theory:near-rigid], [theory:sap].
    """
    dt = subject.simulator.time_step
    force = mass * float(np.linalg.norm(subject.model.opt.gravity))
    near_rigid = mobility * (dt / (2 * math.pi)) ** 2  # 1/k [m/N]
    stiffness = numbers.get("stiffness")
    given = 0.0 if stiffness is None or math.isinf(stiffness) else 1 / stiffness
    if subject.traits.acts_ahead:  # `sap`
        factor = subject.simulator.options["near_rigid_factor"]
        delay = 1 + numbers["relaxation_time"] / dt
        return float(force * max(factor**2 * near_rigid * delay, given))
    if given > 0:
        return force * given
    heaviest = float(subject.model.body_mass.max())
    stiffening = heaviest * mobility / _FREE_RATIO
    return float(force * near_rigid / min(max(stiffening, 1), _MAX_STIFFENING))


def _describe(subject: Subject, load: _Load) -> str:
    heavy = subject.name_body(subject.model.geom_bodyid[load.other])
    mass = subject.tree_mass[subject.tree[load.other]]
    return f"{subject.name_body(load.body)} may carry {heavy} with {mass:.3g} kg"
