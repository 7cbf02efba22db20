"""Rigid spheres at rest on a slab with a pressure field, against the integral of its pressure.

The pressure at the depth z is E z / H. Its vertical force on the sphere is the integral of E z / H
over the circle of touch, E / H times the volume of the cap below the surface:

    f = (E / H) pi d^2 (3 R - d) / 3.

Newton's method gives the depth d of a load.
"""

from __future__ import annotations

import math
from functools import partial

from stiction.evidence.engines.world import Surface
from stiction.evidence.scorecard.scene import Scene
from stiction.evidence.scorecard.scenes.loaded_spheres import (
    MASSES,
    RADIUS,
    make_spheres,
    measure_depths,
)

MODULUS, THICKNESS = 1e6, 0.02  # E [Pa], H [m]


def calc_depth(load: float) -> float:
    """Returns the depth [m] of a load [N]."""
    k = MODULUS / THICKNESS * math.pi
    d = math.sqrt(load / (k * RADIUS))
    for _ in range(20):
        d -= (k * d**2 * (3 * RADIUS - d) / 3 - load) / (k * d * (2 * RADIUS - d))
    return d


_SURFACE = Surface("field", modulus=MODULUS, thickness=THICKNESS, hint=0.0015)

SCENE = Scene(
    name="pressure_field",
    title="Spheres on a slab, against its pressure field",
    quantity="depth of the sphere of 10 kg [mm]",
    error="largest relative error of the three depths",
    exact=1e3 * calc_depth(9.81 * MASSES[-1]),
    make_world=partial(make_spheres, _SURFACE, calc_depth, friction=0.5),
    steps=(1e-2, 5e-3, 2e-3),
    duration=1.0,
    measure=partial(measure_depths, calc_depth=calc_depth),
    energy_scale=None,
    needs_field=True,
)
