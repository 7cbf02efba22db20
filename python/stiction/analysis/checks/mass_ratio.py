"""Finds bodies that sink, or that the solver cannot resolve, under the load of heavier bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stiction._core import TOO_DEEP
from stiction.analysis.checks.mobility import Mobilities
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
_MOST_TURNING = 30  # times the mobility of the mass that contacts carry, [theory:near-rigid]


class _Load(NamedTuple):
    body: int  # the body that carries
    geom: int  # its thinnest geom
    other: int  # a geom that it may touch: of the heaviest other tree, if there is one
    mass: float  # of the load [kg]
    mobility: float  # of the body's center [1/kg]
    text: str  # what the body may carry

    @property
    def ratio(self) -> float:
        return self.mass * self.mobility


def covers(subject: Subject) -> bool:
    """Whether the effect of a load is known for the contact model and its normal law."""
    if subject.traits.is_rigid:
        return subject.contact_model in _RIGID_LIMITS
    return not subject.traits.is_mj_step and subject.simulator.options["normal_law"] in _LAWS


def check(subject: Subject) -> Iterator[Finding]:
    """Yields the bodies that sink too deep under what they may carry, their own tree included."""
    mobilities = Mobilities(subject)
    for body in subject.moving_bodies():
        load = _find_load(subject, mobilities, body)
        if load is None:
            continue
        found = (_check_rigid if subject.traits.is_rigid else _check_compliant)(subject, load)
        if found:
            yield found


def _find_load(subject: Subject, mobilities: Mobilities, body: int) -> _Load | None:
    """Finds the heaviest tree that a body may carry. The body bears its own tree if that is free."""
    m = subject.model
    geoms = subject.geoms_of(body)
    may_touch = subject.may_touch(geoms)
    touched = np.flatnonzero(may_touch.any(axis=0) & (subject.tree != m.body_treeid[body]))
    partners = touched[subject.tree[touched] >= 0]
    is_free = mobilities.is_free_tree(body)
    if len(touched) == 0 or (len(partners) == 0 and not is_free):
        return None
    other, mass = touched[0], 0.0
    if len(partners):
        other = partners[np.argmax(subject.tree_mass[subject.tree[partners]])]
        mass = float(subject.tree_mass[subject.tree[other]])
    geom = int(geoms[np.argmin(np.where(may_touch[:, other], subject.thickness[geoms], np.inf))])
    if is_free:
        mass += float(subject.tree_mass[m.body_treeid[body]])
    mobility = _estimate_mobility(subject, mobilities, body, geom)
    if not mobility > 0:
        return None
    text = f"may carry its own tree of bodies with {mass:.3g} kg"
    if len(partners):
        heavy = subject.name_body(m.geom_bodyid[other])
        text = f"may carry {heavy} with {subject.tree_mass[subject.tree[other]]:.3g} kg"
    elif mobilities.is_free_body(body):
        text = f"has {mass:.3g} kg, but turns too easily for its size (diaginertia)"
    return _Load(body, geom, int(other), mass, mobility, f"{subject.name_body(body)} {text}")


def _estimate_mobility(subject: Subject, mobilities: Mobilities, body: int, geom: int) -> float:
    """Returns the mobility by which a contact of a body softens [1/kg]; 1/m for free solids."""
    W = mobilities.calc(body)
    central = float(np.linalg.norm(W[3:, 3:])) / math.sqrt(3)
    if subject.traits.acts_ahead:
        return max(central, mobilities.calc_at_corners(body, geom))
    gravity = subject.model.opt.gravity
    up = gravity / max(float(np.linalg.norm(gravity)), 1e-300)
    carried = max(float(up @ W[3:, 3:] @ up), 1 / _calc_tree_mass(subject, body))
    return central if subject.traits.is_rigid else min(central, _MOST_TURNING * carried)


def _calc_tree_mass(subject: Subject, body: int) -> float:
    return float(subject.tree_mass[subject.model.body_treeid[body]])


def _check_rigid(subject: Subject, load: _Load) -> Finding | None:
    limit = _RIGID_LIMITS[subject.contact_model]
    if load.ratio < limit:
        return None
    return Finding(
        "mass_ratio",
        f"{load.text}, {load.ratio:.2g} times what its contact moves; under "
        f"'{subject.contact_model}' steps may fail from a ratio of {limit:.0e} on; use a compliant "
        "contact model, or masses that differ less",
        {"body": load.body, "ratio": load.ratio, "limit": limit},
    )


def _check_compliant(subject: Subject, load: _Load) -> Finding | None:
    numbers = subject.explain(load.geom, load.other)
    if numbers is None:
        return None
    own = _calc_tree_mass(subject, load.body)
    sink = calc_sink(subject, load.mass, load.mobility, numbers, own)
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
        f"{load.text}; a contact under this load rests about {sink:.2g} m deep under "
        f"'{subject.contact_model}' at {subject.simulator.time_step:g} s, and "
        f"{subject.name_geom(load.geom)} is {thickness:.2g} m thick; {remedy}",
        {"body": load.body, "ratio": load.ratio, "depth": sink, "thickness": thickness},
    )


def calc_sink(
    subject: Subject,
    mass: float,
    mobility: float,
    numbers: dict[str, Any],
    own: float | None = None,
) -> float:
    """Returns the depth at which one contact of a body with a mobility [1/kg] carries a mass at rest [m].

    Args:
        subject: the scene.
        mass: the load [kg].
        mobility: of the body [1/kg].
        numbers: of the contact, by name.
        own: the mass of the body's tree [kg]; None for 1 / mobility.

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
    heaviest = float(subject.tree_mass.max())
    stiffening = heaviest / (own or 1 / mobility) / _FREE_RATIO
    return float(force * near_rigid / min(max(stiffening, 1), _MAX_STIFFENING))
