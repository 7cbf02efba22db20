"""Theory of a thin rod that slides on its tip until it jams, [theory:painleve].

A rod of length 2 a and mass m slides on its leading tip at the angle theta to the ground, with
theta' = w. While the tip slides on a rigid ground with the friction coefficient mu,

    (F / m) D = N,    D = 1 + 3 cos^2 - 3 mu sin cos,    N = g - a w^2 sin,
    w' = (3 / a) (mu sin - cos) F / m.

D is zero at the singular angle. On the way there F grows, which accelerates the rotation until N is
zero too: the rod arrives at the singular angle with w = sqrt(g / (a sin)). Source: [genot1999]. The
tip then stops at once. Its impulse has no moment about the tip, so the angular momentum about the
tip gives the velocity after the jam.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stiction.evidence.experiments.planar import GRAVITY, Vector
from stiction.evidence.experiments.sliding_rod import ANGLE, FRICTION, LENGTH, MASS, SPEED

SMALLEST_FRICTION = 4 / 3  # below it no angle is singular
_A = LENGTH / 2  # distance from the center to the tip [m]
_END, _STEP = 3.0, 5e-4  # end and step of the integration variable of calc_rigid_jam


@dataclass(frozen=True)
class Jam:
    """The state of a rod whose tip stops to slide."""

    time: float  # time at which the tip stops [s]
    angle: float  # angle between rod and ground at this time [rad]
    spin: float  # angular velocity before the tip stops [rad/s]
    spin_after: float  # angular velocity after the tip stopped [rad/s]


def calc_singular_angle(friction: float = FRICTION) -> float:
    """Returns the smallest angle with 1 + 3 cos^2 = 3 mu sin cos: t^2 - 3 mu t + 4 = 0 with t =
    tan(theta)."""
    return math.atan(0.5 * (3 * friction - math.sqrt(9 * friction**2 - 16)))


def calc_sliding_force(friction: float = FRICTION) -> float:
    """Returns the normal force on the rod when it starts to slide on a rigid ground [N]."""
    s, c = math.sin(ANGLE), math.cos(ANGLE)
    return MASS * GRAVITY / (1 + 3 * c * c - 3 * friction * s * c)


def calc_spin_of_stuck_rod(angle: float, vx: float, vz: float, spin: float) -> float:
    """Returns the angular velocity after the tip stopped, by the angular momentum about the tip:
    (4/3) m a^2 w+ = m a (sin vx + cos vz) + I w."""
    along = math.sin(angle) * vx + math.cos(angle) * vz
    return 0.75 / _A * along + 0.25 * spin


def calc_rigid_jam(friction: float = FRICTION) -> Jam:
    """Computes the jam of the rod on a rigid ground, with an error of 1e-9.

    As a function of time, the motion is singular at its end. The integration variable s with dt = D
    ds removes the singularity, and the end is an equilibrium:

        theta' = w D,    w' = (3 / a) (mu sin - cos) N,    t' = D.
    """

    def calc_rates(y: Vector) -> Vector:
        s, c = math.sin(y[0]), math.cos(y[0])
        d = 1 + 3 * c * c - 3 * friction * s * c
        n = GRAVITY - _A * y[1] ** 2 * s
        return np.array([y[1] * d, 3 / _A * (friction * s - c) * n, d])

    y = np.array([ANGLE, 0.0, 0.0])
    for _ in range(round(_END / _STEP)):
        y = _take_step(calc_rates, y, _STEP)
    angle, spin, time = (float(value) for value in y)
    # The tip stays on the ground, and friction is mu times the normal impulse m (vz + g t).
    vz = _A * math.cos(angle) * spin
    vx = SPEED - friction * (vz + GRAVITY * time)
    return Jam(time, angle, spin, calc_spin_of_stuck_rod(angle, vx, vz, spin))


def calc_compliant_jam(stiffness: float) -> Jam:
    """Integrates the motion of the rod on a spring with Coulomb friction, without dissipation,
    until the tip stops, with an error of 1e-5 rad. The compression at the start avoids oscillation.
    A spring takes time to stop the tip, so the spin before and after are equal."""

    def calc_rates(y: Vector) -> Vector:
        z, angle, _, vz, spin = y
        s, c = math.sin(angle), math.cos(angle)
        push = stiffness / MASS * max(0.0, _A * s - z)
        turn = 3 / _A * push * (FRICTION * s - c)
        return np.array([vz, spin, -FRICTION * push, push - GRAVITY, turn])

    def calc_slip(y: Vector) -> float:
        return float(y[2] - _A * math.sin(y[1]) * y[4])

    step = 0.1 * math.sqrt(MASS / stiffness)
    height = _A * math.sin(ANGLE) - calc_sliding_force() / stiffness
    y, time = np.array([height, ANGLE, SPEED, 0.0, 0.0]), 0.0
    before = y
    while calc_slip(y) > 0:
        before, y, time = y, _take_step(calc_rates, y, step), time + step
    # The slip is nearly linear within the last step.
    part = calc_slip(before) / (calc_slip(before) - calc_slip(y))
    end = before + part * (y - before)
    spin = float(end[4])
    return Jam(time - (1 - part) * step, float(end[1]), spin, spin)


def _take_step(calc_rates: Callable[[Vector], Vector], y: Vector, h: float) -> Vector:
    """Returns y after a step of the classical Runge-Kutta method."""
    k1 = calc_rates(y)
    k2 = calc_rates(y + h / 2 * k1)
    k3 = calc_rates(y + h / 2 * k2)
    k4 = calc_rates(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def calc_order_in_stiffness(angles: dict[float, float]) -> float:
    """Returns the slope of log(angle - singular angle) over log(stiffness)."""
    k = np.log(list(angles))
    distance = np.log(np.array(list(angles.values())) - calc_singular_angle())
    return float(np.polyfit(k, distance, 1)[0])
