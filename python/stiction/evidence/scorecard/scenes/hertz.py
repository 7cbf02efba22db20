"""Elastic spheres at rest on a half space, against Hertz's law [hertz1882].

The load f gives the depth (3 f / (4 E* sqrt(R)))^(2/3). There is no friction, because it stiffens
MuJoCo's pyramidal contacts. Engines without this law get a stiffness
that gives the right depth for the sphere of 1 kg, as a user would calibrate it, and the error is
that of the spheres of 0.1 and 10 kg.
"""

from __future__ import annotations

from functools import partial

from stiction.evidence.engines.world import Surface
from stiction.evidence.scorecard.scene import Scene
from stiction.evidence.scorecard.scenes.loaded_spheres import (
    MASSES,
    RADIUS,
    make_spheres,
    measure_depths,
)

MODULUS = 1e6  # E* [Pa]


def calc_depth(load: float) -> float:
    """Returns the depth [m] of a load [N]."""
    return float((3 * load / (4 * MODULUS * RADIUS**0.5)) ** (2 / 3))


_LOAD = 9.81 * MASSES[1]
_SURFACE = Surface("hertz", stiffness=_LOAD / calc_depth(_LOAD), modulus=MODULUS, load=_LOAD)

SCENE = Scene(
    name="hertz",
    title="Spheres on a half space, against Hertz",
    quantity="depth of the sphere of 10 kg [mm]",
    error="largest relative error of the three depths",
    exact=1e3 * calc_depth(9.81 * MASSES[-1]),
    make_world=partial(make_spheres, _SURFACE, calc_depth, friction=0.0),
    steps=(1e-2, 5e-3, 2e-3),
    duration=1.0,
    measure=partial(measure_depths, calc_depth=calc_depth),
    energy_scale=None,
)
