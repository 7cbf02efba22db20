"""Three equal spheres of 0.1, 1 and 10 kg that rest on a level ground, and the depth to which they
sink."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stiction.evidence.engines.trajectory import Trajectory
from stiction.evidence.engines.world import Geom, Surface, World, make_sphere
from stiction.evidence.scorecard.scene import Measurement

RADIUS, MASSES = 0.05, (0.1, 1.0, 10.0)
CalcDepth = Callable[[float], float]  # exact depth [m] of a load [N]


def make_spheres(surface: Surface, calc_depth: CalcDepth, friction: float) -> World:
    """Returns the spheres at their exact depths."""
    bodies = [
        make_sphere(
            f"sphere{i}",
            RADIUS,
            mass,
            friction,
            pos=(0.0, 0.3 * i, RADIUS - calc_depth(9.81 * mass)),
        )
        for i, mass in enumerate(MASSES)
    ]
    ground = (Geom("plane", (5.0, 5.0), friction),)
    return World(bodies=tuple(bodies), ground=ground, surface=surface)


def measure_depths(run: Trajectory, calc_depth: CalcDepth) -> Measurement:
    """Measures the depth of the heaviest sphere [mm], and the largest relative error of a depth."""
    depths = RADIUS - run.pos[-1, :, 2]
    exact = np.array([calc_depth(9.81 * mass) for mass in MASSES])
    return Measurement(1e3 * float(depths[-1]), float(np.max(np.abs(depths / exact - 1))))
