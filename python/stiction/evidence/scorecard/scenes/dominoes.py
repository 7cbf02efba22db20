"""A row of dominoes on hinges, without friction, that strike each other without rebound
([vanleeuwen2010]).

Each domino turns about the middle of its foot. A falling domino's top edge pushes the next one, so
that the angle t_j of the foremost domino gives that of the one behind, t_i:

    b cos(t_i - t_j) + h sin(t_i - t_j) - D cos(t_j) + b = 0

with the height h, half the thickness b and the distance D. So the row has one degree of freedom.
Between impacts it conserves its energy. An impact conserves the generalized momentum of the row
with the struck domino. The sum over the path gives the time at which the last domino has fallen by
0.3 rad.
"""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.engines.world import Joint, Trajectory, World, make_box
from stiction.evidence.scorecard.scene import Measurement, Scene

NUM, HEIGHT, HALF_THICKNESS, WIDTH, DISTANCE = 6, 0.1, 0.01, 0.04, 0.05  # lengths in [m]
MASS, START_SPIN, END_ANGLE = 0.1, 2.0, 0.3  # [kg], [rad/s], [rad]
_MOMENT = MASS * ((2 * HALF_THICKNESS) ** 2 + HEIGHT**2) / 12 + MASS * HEIGHT**2 / 4


def find_follower(front: float) -> tuple[float, float]:
    """Returns the angle [rad] of the domino behind one at the angle `front`, and its derivative."""
    b, h, distance = HALF_THICKNESS, HEIGHT, DISTANCE
    apart = 0.3
    for _ in range(50):
        f = b * math.cos(apart) + h * math.sin(apart) - distance * math.cos(front) + b
        slope = -b * math.sin(apart) + h * math.cos(apart)
        apart -= f / slope
    slope = -b * math.sin(apart) + h * math.cos(apart)
    return front + apart, 1 - distance * math.sin(front) / slope


def _describe_row(front: float, length: int) -> tuple[list[float], list[float]]:
    """Returns the angles of leaning dominoes from the front, and their rates relative to it."""
    angles, rates = [front], [1.0]
    for _ in range(length - 1):
        angle, rate = find_follower(angles[-1])
        angles.append(angle)
        rates.append(rate * rates[-1])
    return angles, rates


def calc_fall_time(num: int = NUM, num_parts: int = 2000) -> float:
    """Returns the time at which the last domino has fallen by END_ANGLE [s]."""
    hit = find_follower(0.0)[0]
    time, spin = 0.0, START_SPIN
    for length in range(1, num + 1):
        if length > 1:  # the impact on the next domino
            _, rates = _describe_row(0.0, length)
            moved = sum(rate**2 for rate in rates[1:])
            spin = spin * (moved / rates[1]) / (1 + moved)
        end = END_ANGLE if length == num else hit
        front = np.linspace(0.0, end, num_parts + 1)
        inverse = np.array([1 / spin_at for spin_at in _calc_spins(front, length, spin)])
        # Simpson's rule for the integral of dt = dtheta / spin.
        weights = np.ones(num_parts + 1)
        weights[1:-1:2], weights[2:-1:2] = 4, 2
        time += float(weights @ inverse) * end / num_parts / 3
        spin = float(1 / inverse[-1])
    return time


def _calc_spins(front: np.ndarray, length: int, start: float) -> list[float]:
    """Returns the foremost domino's spin at each of its angles, by the conservation of energy."""
    spins, first = [], 0.0
    for i, angle in enumerate(front):
        angles, rates = _describe_row(float(angle), length)
        potential = MASS * 9.81 * HEIGHT / 2 * sum(math.cos(a) for a in angles)
        inertia = _MOMENT * sum(rate**2 for rate in rates)
        if i == 0:
            first = potential + inertia * start**2 / 2
        spins.append(math.sqrt(2 * (first - potential) / inertia))
    return spins


FALL_TIME = calc_fall_time()


def make_world() -> World:
    """Returns the scene. Only the first domino moves; the others stand upright on their hinges."""
    hinge = (0.0, 0.0, -HEIGHT / 2)
    half = (HALF_THICKNESS, WIDTH / 2, HEIGHT / 2)
    bodies = [
        make_box(
            f"domino{i}", half, MASS, 0.0, pos=(i * DISTANCE, 0.0, HEIGHT / 2),
            joint=Joint("hinge", (0.0, 1.0, 0.0), pos=hinge, velocity=START_SPIN if i == 0 else 0.0),
        )
        for i in range(NUM)
    ]  # fmt: skip
    return World(bodies=tuple(bodies))


def measure(run: Trajectory) -> Measurement:
    """Measures the time at which the last domino has fallen by END_ANGLE."""
    w, _, y, _ = run.quat[:, -1].T
    angle = np.unwrap(2 * np.arctan2(y, w))
    fallen = np.flatnonzero(angle >= END_ANGLE)
    if not len(fallen) or not fallen[0]:
        return Measurement(math.nan, math.inf)
    i = int(fallen[0])
    part = (END_ANGLE - angle[i - 1]) / (angle[i] - angle[i - 1])
    time = float(run.time[i - 1] + part * (run.time[i] - run.time[i - 1]))
    return Measurement(1e3 * time, abs(time / FALL_TIME - 1))


SCENE = Scene(
    name="dominoes",
    title="Row of six dominoes",
    quantity="time until the last falls [ms]",
    error="relative to the time",
    exact=1e3 * FALL_TIME,
    make_world=make_world,
    steps=(5e-3, 2e-3, 5e-4),
    duration=1.3 * FALL_TIME,
    measure=measure,
    energy_scale=MASS * 9.81 * HEIGHT,
    derivation=__doc__,
)
