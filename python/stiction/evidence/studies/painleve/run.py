"""A run of the rod, and the measurement of its jam."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stiction._core import contact_model_traits
from stiction.evidence.experiments.painleve import calc_sliding_force
from stiction.evidence.experiments.planar import PlanarBody, Trajectory, run_planar
from stiction.evidence.experiments.sliding_rod import (
    ANGLE,
    FRICTION,
    LENGTH,
    MASS,
    SPEED,
    STIFFNESS,
)

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
