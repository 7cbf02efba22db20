"""A block on an oscillating belt that sticks and slips, in the belt's frame ([castro2023] section
IX.A).

The belt's position is -A cos(omega t). In its frame the force -m A omega^2 cos(omega t) acts on the
block. Its largest value exceeds mu m g, so the block slips, and it sticks again when its velocity
is zero. The belt starts when the contact has settled. Each phase of slip has the velocity

    u(t) = u0 - A omega (sin(omega t) - sin(omega t0)) - s mu g (t - t0),    s = sign(u),

and ends at a root of u, which bisection finds. The force of a step is the mean over the step, so
that the momentum is exact.
"""

from __future__ import annotations

import math

import numpy as np

from stiction.evidence.engines.world import Geom, Trajectory, Vector, World, make_box
from stiction.evidence.experiments.conveyor import AMPLITUDE, OMEGA
from stiction.evidence.scorecard.scene import SETTLE, Measurement, Scene

HALF, MASS, FRICTION, DURATION = (0.1, 0.1, 0.025), 1.0, 0.7, 2.0
_SLOWING = FRICTION * 9.81  # [m/s^2]
_LARGEST = AMPLITUDE * OMEGA**2  # [m/s^2]


def make_world() -> World:
    """Returns the scene."""
    block = make_box("block", HALF, MASS, FRICTION, pos=(0.0, 0.0, HALF[2]))
    return World(bodies=(block,), ground=(Geom("plane", (5.0, 5.0), FRICTION),))


def make_forces(time_step: float, num_steps: int) -> Vector:
    """Returns the mean force of each step [N], (num_steps, 1, 3)."""
    time = np.maximum(0.0, time_step * np.arange(num_steps + 1) - SETTLE)
    belt_velocity = AMPLITUDE * OMEGA * np.sin(OMEGA * time)
    forces = np.zeros((num_steps, 1, 3))
    forces[:, 0, 0] = -MASS * np.diff(belt_velocity) / time_step
    return forces


def calc_path(time: Vector) -> Vector:
    """Returns the exact position of the block on the belt at ascending times [m], (n,)."""
    x = np.empty(len(time))
    position, start, sign = 0.0, 0.0, -1  # the belt's acceleration throws the block back at once
    end = _find_stop(start, sign)
    is_slipping = True
    for i, t in enumerate(time):
        while t > end:
            if is_slipping:
                position = _calc_slip(position, start, sign, end)
                start, is_slipping, sign, end = _begin_phase(end)
            else:
                start, is_slipping = end, True
                sign = -1 if math.cos(OMEGA * end) > 0 else 1
                end = _find_stop(start, sign)
        x[i] = _calc_slip(position, start, sign, t) if is_slipping else position
    return x


def _begin_phase(t: float) -> tuple[float, bool, int, float]:
    """Returns start, whether it slips, sign of slip and end of the phase after a stop."""
    pull = -_LARGEST * math.cos(OMEGA * t)
    if abs(pull) > _SLOWING:
        sign = 1 if pull > 0 else -1
        return t, True, sign, _find_stop(t, sign)
    # It sticks until |cos(omega t)| rises to the share that friction can carry.
    angle = math.acos(_SLOWING / _LARGEST)
    turns = math.ceil((OMEGA * t + angle) / math.pi)
    return t, False, 0, (turns * math.pi - angle) / OMEGA


def _calc_velocity(start: float, sign: int, t: float) -> float:
    belt = AMPLITUDE * OMEGA * (math.sin(OMEGA * t) - math.sin(OMEGA * start))
    return -belt - sign * _SLOWING * (t - start)


def _calc_slip(position: float, start: float, sign: int, t: float) -> float:
    """Returns the position in a phase of slip, the integral of the velocity."""
    belt = AMPLITUDE * (math.cos(OMEGA * start) - math.cos(OMEGA * t))
    belt -= AMPLITUDE * OMEGA * math.sin(OMEGA * start) * (t - start)
    return position - belt - sign * _SLOWING * (t - start) ** 2 / 2


def _find_stop(start: float, sign: int) -> float:
    """Returns the time at which a slip of this sign ends."""
    step = 1e-4
    low = start + step
    while sign * _calc_velocity(start, sign, low + step) > 0:
        low += step
    high = low + step
    for _ in range(60):
        middle = (low + high) / 2
        if sign * _calc_velocity(start, sign, middle) > 0:
            low = middle
        else:
            high = middle
    return high


def measure(run: Trajectory) -> Measurement:
    """Measures the root mean square distance from the exact path."""
    x = run.pos[:, 0, 0] - run.pos[0, 0, 0]
    exact = calc_path(run.time - run.time[0])
    rms = float(np.sqrt(np.mean((x - exact) ** 2)))
    return Measurement(1e3 * float(x[-1]), rms / float(np.ptp(exact)))


SCENE = Scene(
    name="conveyor",
    title="Block that sticks and slips on an oscillating belt",
    quantity="position on the belt after 2 s [mm]",
    error="rms distance over the range of the exact path",
    exact=1e3 * float(calc_path(np.array([DURATION]))[0]),
    make_world=make_world,
    steps=(1e-2, 5e-3, 2e-3),
    duration=DURATION + SETTLE,
    measure=measure,
    energy_scale=None,
    settle=SETTLE,
    make_forces=make_forces,
    derivation=__doc__,
)
