"""A box of 1 kg that carries a box of 1000 kg.

Rigid boxes that touch stay where they are. The answer is no motion.
"""

from __future__ import annotations

from stiction.evidence.engines.trajectory import Trajectory
from stiction.evidence.engines.world import Geom, World, make_box
from stiction.evidence.scorecard.scene import Measurement, Scene, calc_speed_at_end

HALF, FRICTION = 0.05, 0.5
HEAVY_HALF, HEAVY_MASS = 0.1, 1000.0


def make_world() -> World:
    """Returns the scene."""
    light = make_box("light", (HALF,) * 3, 1.0, FRICTION, pos=(0.0, 0.0, HALF))
    above = (0.0, 0.0, 2 * HALF + HEAVY_HALF)
    heavy = make_box("heavy", (HEAVY_HALF,) * 3, HEAVY_MASS, FRICTION, pos=above)
    return World(bodies=(light, heavy), ground=(Geom("plane", (5.0, 5.0), FRICTION),))


def measure(run: Trajectory) -> Measurement:
    """Measures how far the heavy box has moved."""
    pos = run.pos[:, run.find("heavy")]
    apart = pos[-1] - pos[0]
    moved = float((apart @ apart) ** 0.5)
    creep = calc_speed_at_end(run.time, pos[:, 2])
    return Measurement(-1e3 * float(apart[2]), moved / (2 * HALF), creep)


SCENE = Scene(
    name="mass_ratio",
    title="Stack with the mass ratio 1000",
    quantity="sinking of the heavy box in 1 s [mm]",
    error="motion over the side of the light box, 100 mm",
    exact=0.0,
    make_world=make_world,
    steps=(1e-2, 5e-3, 2e-3),
    duration=1.0,
    measure=measure,
    energy_scale=HEAVY_MASS * 9.81 * 2 * HALF,
)
