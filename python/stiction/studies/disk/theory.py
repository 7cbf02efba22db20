"""A disk that slides and spins on a plane, pressed on evenly, in closed form but for integrals.

With rho in units of the radius R and the ratio eps = v / (R w), Coulomb's friction at every point is
a force mu m g F(eps) against the motion and a torque mu m g R T(eps) against the spin,

    F = (1/pi) int int (eps - rho sin a) / D rho da drho,
    T = (1/pi) int int (rho^2 - eps rho sin a) / D rho da drho,    D^2 = eps^2 + rho^2 - 2 eps rho sin a,

and m v' = -mu m g F, (m R^2 / 2) w' = -mu m g R T. Hence eps' = 0 where F = 2 eps T: v and w end
together, at one ratio, whatever they were at first. Source: [farkas2003]; [masterjohn2022] section V.A;
[theory:disk].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Friction = Callable[[float], tuple[float, float]]  # of the ratio: F and T [-]

_NUM_NODES = 200


@cache
def _make_gauss_rule() -> tuple[Vector, Vector]:
    nodes, weights = np.polynomial.legendre.leggauss(_NUM_NODES)
    return nodes, weights


def calc_friction(ratio: float) -> tuple[float, float]:
    """F and T of the disk, to 1e-10 but near ratio 1, where they have a corner; ratio > 0 [-].

    In polar coordinates (r, phi) about the point at rest, (0, eps), friction is (cos phi, sin phi)
    for any r. What is left is a smooth integral over phi, to the disk's rim:

        F = (1/pi) int cos(phi) r^2 / 2 dphi,    T = (1/pi) int (r^3 / 3 - eps cos(phi) r^2 / 2) dphi,

    from a point inside over all directions, from one outside between both crossings of the rim.
    """
    if ratio <= 1:
        phi = (np.arange(_NUM_NODES) + 0.5) * (2 * math.pi / _NUM_NODES)
        weight = np.full(_NUM_NODES, 2 / _NUM_NODES)  # dphi / pi
        near = np.zeros(_NUM_NODES)
        far = ratio * np.cos(phi) + np.sqrt(1 - (ratio * np.sin(phi)) ** 2)
        cosine = np.cos(phi)
    else:
        # sin(phi) = sin(t) / eps: without the root at the tangents to the rim.
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
    """F and T of points that share the load.

    Args:
        points: (n, 2), in units of R.
        weights: (n,), their shares; they sum to 1.
    """
    velocity = np.stack([ratio - points[:, 1], points[:, 0]], axis=-1)
    direction = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    lever = points[:, 0] * direction[:, 1] - points[:, 1] * direction[:, 0]
    return float(weights @ direction[:, 0]), float(weights @ lever)


def calc_final_ratio(friction: Friction = calc_friction) -> float:
    """The ratio at which v and w end [-]: the root of F = 2 eps T in (0.2, 0.98), to 1e-12."""
    low, high = 0.2, 0.98
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        force, torque = friction(middle)
        low, high = (low, middle) if force > 2 * middle * torque else (middle, high)
    return 0.5 * (low + high)


def calc_ring_ratio(*rings: tuple[float, float]) -> float:
    """Where all load is on rings, as that of a fan's centroids is.

    Args:
        rings: radius in units of R and share of the load of each; the shares sum to 1.
    """
    angle = (np.arange(2000) + 0.5) * (2 * math.pi / 2000)
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points = np.concatenate([radius * unit for radius, _ in rings])
    weights = np.concatenate([np.full(len(unit), share / len(unit)) for _, share in rings])
    return calc_final_ratio(lambda ratio: calc_friction_of_points(ratio, points, weights))


def calc_motion(
    ratio: float, speed: float, deceleration: float, fractions: Sequence[float]
) -> Vector:
    """Time, v and R w of the disk.

    In place of time the logarithm of the speed s = hypot(v, R w) is stepped, so that the stop is as
    well resolved as the start: with K = (eps F + 2 T) / sqrt(1 + eps^2),

        s' = -mu g K,    eps' = (mu g / (R w)) (2 eps T - F).

    Args:
        ratio: at the start.
        speed: s at the start [m/s].
        deceleration: mu g [m/s^2].
        fractions: of `speed`, descending from at most 1.

    Returns:
        (n, 3): at each of the fractions time [s], v and R w [m/s]; to 1e-8.
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
