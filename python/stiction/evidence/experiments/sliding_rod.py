"""The sliding rod: its experiments, and measurements of their trajectories.

The ends of the rod are spheres of its diameter within its length. The lower end starts on the
ground, or under models that act at a distance with the gap on which it glides, mu (dt + tau_d) U0,
because otherwise it would be thrown off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stiction._core import contact_model_traits
from stiction.evidence.experiments.planar import PlanarBody, Trajectory, Vector
from stiction.evidence.experiments.planar_case import PlanarCase

MASS = 0.3  # [kg]
LENGTH = 0.5  # [m]
RADIUS = 0.005  # [m]
FRICTION = 2.3  # [-]
STIFFNESS = 1e7  # [N/m]
ANGLE = math.radians(30)  # initial angle between rod and ground [rad]
SPEED = 10.0  # U0 [m/s]

_STICKS = 1e-2  # a tip that slips more slowly counts as sticking [m/s]


@dataclass(frozen=True)
class Dissipation:
    """The dissipation of a case."""

    name: str
    d: float  # dissipation [s/m]
    tau: float  # relaxation time of 'sap' [s]


DISSIPATIONS = (Dissipation("without", 0.0, 0.0), Dissipation("with", 0.2, 4e-6))


@dataclass(frozen=True)
class Rod:
    """The geometry of the rod."""

    # Distance of the spheres at the ends from the rod's center [m].
    end: float = LENGTH / 2 - RADIUS
    radius: float = RADIUS  # radius of these spheres [m]

    def make_case(self, dissipation: Dissipation) -> PlanarCase:
        """Makes the experiment. Its coordinates are x, z [m] and theta [rad]."""

        def make_start(contact_model: str, time_step: float) -> tuple[Vector, Vector]:
            traits = contact_model_traits(contact_model)
            reach = time_step + dissipation.tau if traits.acts_ahead else time_step
            gap = FRICTION * (reach if traits.lifts_sliding else 0.0) * SPEED
            height = self.end * math.sin(ANGLE) + self.radius + gap
            return np.array([0.0, height, -ANGLE]), np.array([SPEED, 0.0, 0.0])

        return PlanarCase(
            body=self._make_body(dissipation),
            make_start=make_start,
            duration=0.08,
            steps=(6.4e-4, 1.6e-4, 4e-5, 1e-5),  # figure 12
            columns=(0, 1, 2),
            reference_steps=(2e-7, 1e-7),
            quick_reference_steps=(1e-6, 5e-7),
            sampling=1e-5,
        )

    def _make_body(self, dissipation: Dissipation) -> PlanarBody:
        return PlanarBody(
            mass=MASS,
            inertia=MASS * LENGTH**2 / 12,
            spheres=((self.end, 0.0, self.radius), (-self.end, 0.0, self.radius)),
            friction=FRICTION,
            stiffness=STIFFNESS,
            dissipation=dissipation.d,
            relaxation_time=dissipation.tau,
        )


CASES = {each.name: Rod().make_case(each) for each in DISSIPATIONS}
# A rod as thin as in [theory:sliding-rod], whose contact stays at the very end.
THIN_CASES = {each.name: Rod(end=LENGTH / 2, radius=1e-6).make_case(each) for each in DISSIPATIONS}


def measure_jam(run: Trajectory) -> dict[str, float]:
    """Measures the jam: the largest normal force [N], its time [s], the rod's angle then [degrees],
    and the time for which the tip sticks around it [s]."""
    peak = int(np.argmax(run.normal_force))
    sticks = (np.abs(run.slip_velocity) < _STICKS) & (run.normal_force > 0)
    sticks &= np.abs(run.time - run.time[peak]) < 3e-3
    return {
        "force": float(run.normal_force[peak]),
        "time": float(run.time[peak]),
        "angle_deg": -math.degrees(run.q[peak, 2]),
        "stiction": float(sticks.sum() * run.time[1]),
    }


def calc_period(run: Trajectory) -> float | None:
    """Returns the time between the first two maxima of the normal force [s], or None for fewer."""
    force = run.normal_force
    maxima = 1 + np.nonzero((force[1:-1] > force[:-2]) & (force[1:-1] >= force[2:]))[0]
    return float(run.time[maxima[1]] - run.time[maxima[0]]) if len(maxima) > 1 else None


def calc_painleve_margin(angle: float) -> float:
    """Returns 3 mu sin cos - 1 - 3 cos^2 of a thin rod's angle. Rigid contact has no solution if it
    is not negative (Painleve's paradox)."""
    s, c = math.sin(angle), math.cos(angle)
    return 3 * FRICTION * s * c - 1 - 3 * c * c
