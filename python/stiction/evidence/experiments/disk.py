"""Theory of a disk that slides and spins on a plane under an even pressure.

Let rho be the distance from the center in units of the radius R, and eps = v / (R w). Coulomb friction
sums up to a force mu m g F(eps) against the motion and a torque mu m g R T(eps) against the spin,

    F = (1/pi) int int (eps - rho sin a) / D rho da drho,
    T = (1/pi) int int (rho^2 - eps rho sin a) / D rho da drho,    D^2 = eps^2 + rho^2 - 2 eps rho sin a,

and m v' = -mu m g F, (m R^2 / 2) w' = -mu m g R T. Hence eps' = 0 if F = 2 eps T: v and w reach
zero together at one ratio, whatever the initial ratio. Source: [farkas2003]; [masterjohn2022]
section V.A; [theory:disk].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Friction = Callable[[float], tuple[float, float]]  # returns F and T for a ratio [-]

_NUM_NODES = 200


@cache
def _make_gauss_rule() -> tuple[Vector, Vector]:
    nodes, weights = np.polynomial.legendre.leggauss(_NUM_NODES)
    return nodes, weights


def calc_friction(ratio: float) -> tuple[float, float]:
    """Computes F and T of the disk with an error below 1e-10, except near ratio 1.

    In polar coordinates (r, phi) about the point at rest, (0, eps), the direction of friction is
    (cos phi, sin phi) for any r. The integral over r up to the rim of the disk is elementary, and a
    smooth integral over phi remains:

        F = (1/pi) int cos(phi) r^2 / 2 dphi,    T = (1/pi) int (r^3 / 3 - eps cos(phi) r^2 / 2) dphi.

    If the point at rest is inside the disk, phi covers all directions; if it is outside, each ray
    crosses the rim twice, and the integrand is the difference between both crossings. At ratio 1, F
    and T are not smooth.
    """
    if ratio <= 1:
        phi = (np.arange(_NUM_NODES) + 0.5) * (2 * math.pi / _NUM_NODES)
        weight = np.full(_NUM_NODES, 2 / _NUM_NODES)  # dphi / pi
        near = np.zeros(_NUM_NODES)
        far = ratio * np.cos(phi) + np.sqrt(1 - (ratio * np.sin(phi)) ** 2)
        cosine = np.cos(phi)
    else:
        # The substitution sin(phi) = sin(t) / eps removes the root at the tangents to the rim.
        x, w = _make_gauss_rule()
        t = 0.5 * math.pi * x
        cosine = np.sqrt(1 - (np.sin(t) / ratio) ** 2)
        weight = 0.5 * w * np.cos(t) / (ratio * cosine)
        far, near = ratio * cosine + np.cos(t), ratio * cosine - np.cos(t)
    squares, cubes = (far**2 - near**2) / 2, (far**3 - near**3) / 3
    force = weight @ (cosine * squares)
    torque = weight @ (cubes - ratio * cosine * squares)
    return float(force), float(torque)


def calc_friction_of_points(ratio: float, points: Vector, weights: Vector) -> tuple[float, float]:
    """Computes F and T for a load on points in units of R, (n, 2); the weights sum to 1."""
    velocity = np.stack([ratio - points[:, 1], points[:, 0]], axis=-1)
    direction = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    lever = points[:, 0] * direction[:, 1] - points[:, 1] * direction[:, 0]
    return float(weights @ direction[:, 0]), float(weights @ lever)


def calc_final_ratio(friction: Friction = calc_friction) -> float:
    """Returns the final ratio [-]: the root of F = 2 eps T in (0.2, 0.98), with an error of 1e-12."""
    low, high = 0.2, 0.98
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        force, torque = friction(middle)
        low, high = (low, middle) if force > 2 * middle * torque else (middle, high)
    return 0.5 * (low + high)


def calc_ring_ratio(*rings: tuple[float, float]) -> float:
    """Returns the final ratio for a load on rings: radii in units of R, and fractions of the load."""
    angle = (np.arange(2000) + 0.5) * (2 * math.pi / 2000)
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points = np.concatenate([radius * unit for radius, _ in rings])
    weights = np.concatenate([np.full(len(unit), share / len(unit)) for _, share in rings])
    return calc_final_ratio(lambda ratio: calc_friction_of_points(ratio, points, weights))


def calc_motion(
    ratio: float, speed: float, deceleration: float, fractions: Sequence[float]
) -> Vector:
    """Computes time [s], v and R w [m/s] of the disk at descending fractions of its initial speed,
    (n, 3).

    The integration variable is the logarithm of the speed s = hypot(v, R w) instead of time, so
    that the stop is as well resolved as the start. With K = (eps F + 2 T) / sqrt(1 + eps^2),

        s' = -mu g K,    eps' = (mu g / (R w)) (2 eps T - F).

    The error is 1e-8.
    """

    def calc_rates(log_speed: float, y: Vector) -> Vector:
        force, torque = calc_friction(y[0])
        size = math.sqrt(1 + y[0] ** 2)
        slowing = (y[0] * force + 2 * torque) / size
        return np.array(
            [
                size * (2 * y[0] * torque - force) / slowing,
                speed * math.exp(log_speed) / (deceleration * slowing),
            ]
        )

    rows, y, at = [], np.array([ratio, 0.0]), 0.0
    for fraction in fractions:
        end = math.log(fraction)
        count = max(1, math.ceil((at - end) / 0.02))
        h = (at - end) / count
        for _ in range(count):
            k1 = calc_rates(at, y)
            k2 = calc_rates(at - h / 2, y + h / 2 * k1)
            k3 = calc_rates(at - h / 2, y + h / 2 * k2)
            k4 = calc_rates(at - h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            at -= h
        spin = speed * fraction / math.sqrt(1 + y[0] ** 2)
        rows.append([y[1], y[0] * spin, spin])
    return np.array(rows)
