"""Grips just below and above the friction that holds: which of them hold."""

from __future__ import annotations

import numpy as np

from stiction.evidence.engines.world import Body, Joint, Trajectory, World, make_box
from stiction.evidence.scorecard.scene import (
    SETTLE,
    Measurement,
    Scene,
    calc_speed_at_end,
    load_later,
)

WEIGHT, GRIP = 0.628, 6.96  # of a cube, and force of a finger [N]
CRITICAL = WEIGHT / (2 * GRIP)  # friction that just holds [-]
SHARES = (0.90, 0.98, 0.999, 1.001, 1.02, 1.10)  # of the critical friction [-]
_HALF, _DURATION = 0.02, 1.0  # [m], [s]
# Exact drops, and the smallest of those that fall [m].
DROPS = np.array([max(0.0, 9.81 * (1 - share) * _DURATION**2 / 2) for share in SHARES])
_SMALLEST = DROPS[DROPS > 0].min()


def make_grip(i: int) -> tuple[Body, ...]:
    """Returns cube number i with its fingers on slides, which are long enough for its fall."""
    friction, y = SHARES[i] * CRITICAL, 0.1 * i
    fingers = [
        make_box(
            f"{name}{i}", (0.005, 0.03, 0.6), 0.05, friction, pos=(side * (_HALF + 0.005), y, 0.0),
            joint=Joint("slide", (1.0, 0.0, 0.0)), force=(-side * GRIP, 0.0, 0.0),
        )
        for name, side in (("left", -1), ("right", 1))
    ]  # fmt: skip
    weight = (0.0, 0.0, -WEIGHT)
    cube = make_box(
        f"cube{i}", (_HALF,) * 3, WEIGHT / 9.81, friction, pos=(0.0, y, 0.0), force=weight
    )
    return (*fingers, cube)


def make_world() -> World:
    """Returns a grip for each share."""
    bodies = [body for i in range(len(SHARES)) for body in make_grip(i)]
    return World(bodies=tuple(bodies), gravity=(0.0, 0.0, 0.0))


def measure(run: Trajectory) -> Measurement:
    """Counts the grips that rightly hold or slip, and measures the worst drop."""
    z = np.stack([run.pos[:, run.find(f"cube{i}"), 2] for i in range(len(SHARES))], axis=1)
    drops = z[0] - z[-1]
    right = int(((drops > _SMALLEST / 2) == (DROPS > 0)).sum())
    error = np.abs(drops - DROPS) / np.maximum(DROPS, _SMALLEST)
    creep = max(calc_speed_at_end(run.time, z[:, i]) for i in np.flatnonzero(DROPS == 0))
    return Measurement(right, float(error.max()), creep)


SCENE = Scene(
    name="grip_threshold",
    title="Six grips at 0.90 to 1.10 of the friction that holds",
    quantity="grips that rightly hold or slip",
    error="largest of the six drops, over the exact one, or over the smallest fall for what holds",
    exact=len(SHARES),
    make_world=make_world,
    steps=(1e-2, 5e-3, 2e-3),
    duration=_DURATION + SETTLE,
    measure=measure,
    energy_scale=WEIGHT * float(DROPS.max()),
    settle=SETTLE,
    make_forces=load_later(make_world, {f"cube{i}": (0.0, 0.0, 0.0) for i in range(len(SHARES))}),
    derivation="""
Six cubes that two fingers hold, with 0.90, 0.98, 0.999, 1.001, 1.02 and 1.10 of the critical friction.

The fingers press with F = 6.96 N each, and a cube weighs W = 0.628 N, so friction holds from
W / (2 F) = 0.0451 on. With the share s of it the force s W holds the cube back: below 1 the cube
falls with the acceleration g (1 - s), and above it does not move. The smallest fall is 4.9 mm in 1 s. A
grip is right if its cube drops by more than half of that, or should not and does not.
""",
)
