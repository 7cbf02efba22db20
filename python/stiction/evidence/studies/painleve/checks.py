"""Runs of the rod, the measurement of their jams, and its checks against [theory:painleve]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stiction._core import contact_model_traits
from stiction.evidence.experiments.convergence import calc_last_order
from stiction.evidence.experiments.painleve import (
    Jam,
    calc_order_in_stiffness,
    calc_singular_angle,
    calc_sliding_force,
    calc_spin_of_stuck_rod,
)
from stiction.evidence.experiments.planar import PlanarBody, Trajectory, run_planar
from stiction.evidence.experiments.sliding_rod import (
    ANGLE,
    FRICTION,
    LENGTH,
    MASS,
    SPEED,
    STIFFNESS,
)
from stiction.evidence.studies.checks import Checks

# The spheres at the ends are so small that the contact stays at the very end of the rod.
_RADIUS = 1e-6  # [m]
_STICKS = 1e-2  # a tip that slips more slowly counts as sticking [m/s]


@dataclass(frozen=True)
class RodCase:
    """A run of the rod."""

    contact_model: str
    time_step: float  # [s]
    stiffness: float = STIFFNESS  # stiffness of the contact [N/m]
    friction: float = FRICTION  # friction coefficient [-]
    duration: float = 0.044  # simulated time [s]

    def run(self) -> Trajectory:
        """Runs the rod from a start at which the ground, compressed if compliant, carries it while
        it slides. Models that lift a sliding body start with the gap on which it glides."""
        traits = contact_model_traits(self.contact_model)
        height = LENGTH / 2 * math.sin(ANGLE) + _RADIUS
        if traits.lifts_sliding:
            height += self.friction * self.time_step * SPEED
        if not traits.is_rigid:
            height -= calc_sliding_force(self.friction) / self.stiffness
        return run_planar(
            self._make_body(),
            self.contact_model,
            self.time_step,
            self.time_step * round(self.duration / self.time_step),
            np.array([0.0, height, -ANGLE]),
            np.array([SPEED, 0.0, 0.0]),
        )

    def _make_body(self) -> PlanarBody:
        return PlanarBody(
            mass=MASS,
            inertia=MASS * LENGTH**2 / 12,
            spheres=((LENGTH / 2, 0.0, _RADIUS), (-LENGTH / 2, 0.0, _RADIUS)),
            friction=self.friction,
            stiffness=self.stiffness,
            dissipation=0.0,
            relaxation_time=0.0,
        )


@dataclass(frozen=True)
class JamRun:
    """The jam of a run: the first step at whose end the tip sticks."""

    # time, angle, spin: time [s], angle [rad] and angular velocity [rad/s] at the start of this
    # step.
    time: float
    angle: float
    spin: float
    spin_after: float  # angular velocity at its end [rad/s]
    impulse: float  # normal impulse of this step [N s]
    force: float  # largest normal force of the run [N]


def find_jam(run: Trajectory) -> JamRun | None:
    """Finds the jam of a run; None if the tip never sticks."""
    sticks = (np.abs(run.slip_velocity) < _STICKS) & (run.normal_force > 0)
    if not sticks.any():
        return None
    end = int(np.argmax(sticks))
    return JamRun(
        time=float(run.time[end - 1]),
        angle=float(-run.q[end - 1, 2]),
        spin=float(-run.v[end - 1, 2]),
        spin_after=float(-run.v[end, 2]),
        impulse=float(run.normal_force[end] * run.time_step),
        force=float(run.normal_force.max()),
    )


# ---- Checks of the jams --------------------------------------------------------------------------

# Rigid models that jam in the step that starts closest to the singular angle.
PUNCTUAL = ("stewart_trinkle", "drumwright_shell", "rigid_coulomb")
# Compliant models whose friction follows the normal force of the same step. They jam within two steps
# of a rod on a spring. The others jam later by a first-order error.
_COUPLED = ("coulomb", "tamsi")
# 'anitescu_potra' ignores a contact that does not touch. While the rod turns, its tip loses touch
# now and then, and jams when it lands. This takes some 1e-3 s where the contact hardly accelerates.
_FLIGHT = math.radians(0.5)

JamsOfSteps = Mapping[float, JamRun]


def check_theory(rigid: Jam) -> Checks:
    """Checks the closed form of the singular angle, and the motion that ends there."""
    angle = calc_singular_angle()
    s, c = math.sin(angle), math.cos(angle)
    checks = Checks()
    value = math.degrees(angle)
    checks.near("singular angle, closed form [degrees]", value, 32.573, 1e-5, "literature")
    what = "1 + 3 cos^2 - 3 mu sin cos at this angle [-]"
    checks.at_most(what, abs(1 + 3 * c * c - 3 * FRICTION * s * c), 1e-12, "its definition")
    what = "angle at which the motion on a rigid ground ends [rad]"
    checks.near(what, rigid.angle, angle, 1e-8, "closed form")
    what = "angular velocity at this angle [rad/s]"
    source = "[genot1999]: sqrt(g / (a sin))"
    checks.near(what, rigid.spin, math.sqrt(9.81 / (LENGTH / 2 * s)), 1e-8, source)
    return checks


def check_rigid(name: str, jams: JamsOfSteps, theory: Jam) -> Checks:
    """Checks angle and velocity of a rigid model's jam at every time step."""
    is_punctual = name in PUNCTUAL
    checks = Checks()
    for step, jam in jams.items():
        where = f"{name} at {1e6 * step:g} us"
        what = f"distance of the jam from the singular angle, {where} [rad]"
        value = abs(jam.angle - theory.angle)
        source = "the angle of one time step" if is_punctual else "flight of the tip"
        checks.at_most(what, value, theory.spin * step if is_punctual else _FLIGHT, source)
        what = f"angular velocity after the jam, {where} [rad/s]"
        source = "angular momentum about the tip"
        checks.near(what, jam.spin_after, theory.spin_after, 1e-3 if is_punctual else 6e-3, source)
    return checks


def check_compliant(name: str, jams: JamsOfSteps, theory: Jam) -> Checks:
    """Checks that a compliant model jams where a rod on a spring does, up to first order."""
    errors = {step: abs(jam.angle - theory.angle) for step, jam in jams.items()}
    checks = Checks()
    if name in _COUPLED:
        source = "integration of the motion on a spring, and the angle of two time steps"
        for step, error in errors.items():
            what = f"distance of the jam from that on a spring, {name} at {1e6 * step:g} us [rad]"
            checks.at_most(what, error, 2 * theory.spin * step, source)
        return checks
    smallest = min(errors)
    what = f"order of the jam's angle between the smallest steps, {name}"
    checks.between(what, calc_last_order(errors), 0.75, 1.1, "1; less at large steps")
    what = f"distance of the jam from that on a spring, {name} at {1e6 * smallest:g} us [rad]"
    checks.at_most(what, errors[smallest], 0.01, "integration of the motion on a spring")
    return checks


def check_stiffness(jams: Mapping[float, JamRun], theory: Mapping[float, Jam]) -> Checks:
    """Checks that the jam of 'coulomb' approaches the singular angle as the stiffness grows."""
    singular = calc_singular_angle()
    checks = Checks()
    for stiffness, jam in jams.items():
        what = f"jam behind the singular angle, coulomb at {stiffness:g} N/m [rad]"
        expected = theory[stiffness].angle - singular
        source = "integration of the motion on a spring"
        checks.near(what, jam.angle - singular, expected, 0.05, source)
    order = calc_order_in_stiffness({k: jam.angle for k, jam in jams.items()})
    source = "Airy's equation: -1/3, and a logarithm"
    checks.between("order of this angle over stiffness", order, -0.36, -0.29, source)
    return checks


def check_friction(jams: Mapping[float, JamRun | None], step: float) -> Checks:
    """Checks where the rod jams with other friction coefficients, under 'stewart_trinkle'."""
    checks = Checks()
    for friction, jam in jams.items():
        where = f"mu = {friction:g}, stewart_trinkle at {1e6 * step:g} us"
        if friction < 1 / math.tan(ANGLE):  # friction turns the rod down instead of upright
            count = 0 if jam is None else 1
            checks.at_most(f"number of jams, {where}", count, 0, "mu tan(angle) < 1")
            continue
        wanted = max(ANGLE, calc_singular_angle(friction))  # the rod may start beyond it
        what = f"angle of the jam, {where} [rad]"
        source = "1 + 3 cos^2 = 3 mu sin cos, or the start"
        checks.near(what, None if jam is None else jam.angle, wanted, 1e-3, source)
    return checks


def check_no_slip(jams: JamsOfSteps) -> Checks:
    """Checks the rod with infinite friction, which jams in its first step. The tip slides but
    does not approach the ground, so no impact acts on it. Only friction requires the impulse,
    [lynch1995]."""
    spin = calc_spin_of_stuck_rod(ANGLE, SPEED, 0.0, 0.0)
    impulse = MASS * LENGTH / 2 * math.cos(ANGLE) * spin
    smallest = min(jams)
    where = f"no_slip at {1e6 * smallest:g} us"
    source = "angular momentum about the tip"
    checks = Checks()
    checks.at_most(f"time of the jam, {where} [s]", jams[smallest].time, 0, "the first step")
    what = f"angular velocity after it, {where} [rad/s]"
    checks.near(what, jams[smallest].spin_after, spin, 1e-3, source)
    checks.near(f"its normal impulse, {where} [N s]", jams[smallest].impulse, impulse, 1e-3, source)
    return checks
