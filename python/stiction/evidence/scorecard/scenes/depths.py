"""Loads that rest, and how deep they sink."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from stiction.evidence.engines.world import Geom, Surface, Trajectory, World, make_box, make_sphere
from stiction.evidence.scorecard.scene import Measurement, Scene, calc_speed_at_end

# ---- the mass ratio ------------------------------------------------------------------------------

_LIGHT_HALF, _BOX_FRICTION = 0.05, 0.5
_HEAVY_HALF, _HEAVY_MASS = 0.1, 1000.0


def make_boxes() -> World:
    """Returns the scene."""
    light = make_box("light", (_LIGHT_HALF,) * 3, 1.0, _BOX_FRICTION, pos=(0.0, 0.0, _LIGHT_HALF))
    above = (0.0, 0.0, 2 * _LIGHT_HALF + _HEAVY_HALF)
    heavy = make_box("heavy", (_HEAVY_HALF,) * 3, _HEAVY_MASS, _BOX_FRICTION, pos=above)
    return World(bodies=(light, heavy), ground=(Geom("plane", (5.0, 5.0), _BOX_FRICTION),))


def measure_sinking(run: Trajectory) -> Measurement:
    """Measures how far the heavy box has moved."""
    pos = run.pos[:, run.find("heavy")]
    apart = pos[-1] - pos[0]
    moved = float((apart @ apart) ** 0.5)
    creep = calc_speed_at_end(run.time, pos[:, 2])
    return Measurement(-1e3 * float(apart[2]), moved / (2 * _LIGHT_HALF), creep)


MASS_RATIO = Scene(
    name="mass_ratio",
    title="Stack with the mass ratio 1000",
    quantity="sinking of the heavy box in 1 s [mm]",
    error="motion over the side of the light box, 100 mm",
    exact=0.0,
    make_world=make_boxes,
    steps=(1e-2, 5e-3, 2e-3),
    duration=1.0,
    measure=measure_sinking,
    energy_scale=_HEAVY_MASS * 9.81 * 2 * _LIGHT_HALF,
    derivation="""
A box of 1 kg that carries a box of 1000 kg.

Rigid boxes that touch stay where they are. The answer is no motion.
""",
)

# ---- three spheres of 0.1, 1 and 10 kg on a level ground ----------------------------------------

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


HERTZ_MODULUS = 1e6  # E* [Pa]


def calc_hertz_depth(load: float) -> float:
    """Returns the depth [m] of a load [N]."""
    return float((3 * load / (4 * HERTZ_MODULUS * RADIUS**0.5)) ** (2 / 3))


_LOAD = 9.81 * MASSES[1]
_HERTZ_SURFACE = Surface(
    "hertz", stiffness=_LOAD / calc_hertz_depth(_LOAD), modulus=HERTZ_MODULUS, load=_LOAD
)

HERTZ = Scene(
    name="hertz",
    title="Spheres on a half space, against Hertz",
    quantity="depth of the sphere of 10 kg [mm]",
    error="largest relative error of the three depths",
    exact=1e3 * calc_hertz_depth(9.81 * MASSES[-1]),
    make_world=partial(make_spheres, _HERTZ_SURFACE, calc_hertz_depth, friction=0.0),
    steps=(1e-2, 5e-3, 2e-3),
    duration=1.0,
    measure=partial(measure_depths, calc_depth=calc_hertz_depth),
    energy_scale=None,
    derivation="""
Elastic spheres at rest on a half space, against Hertz's law [hertz1882].

The load f gives the depth (3 f / (4 E* sqrt(R)))^(2/3). There is no friction, because it stiffens
MuJoCo's pyramidal contacts. Engines without this law get a stiffness
that gives the right depth for the sphere of 1 kg, as a user would calibrate it, and the error is
that of the spheres of 0.1 and 10 kg.
""",
)


SLAB_MODULUS, SLAB_THICKNESS = 1e6, 0.02  # E [Pa], H [m]


def calc_slab_depth(load: float) -> float:
    """Returns the depth [m] of a load [N]."""
    k = SLAB_MODULUS / SLAB_THICKNESS * math.pi
    d = math.sqrt(load / (k * RADIUS))
    for _ in range(20):
        d -= (k * d**2 * (3 * RADIUS - d) / 3 - load) / (k * d * (2 * RADIUS - d))
    return d


_SLAB_SURFACE = Surface("field", modulus=SLAB_MODULUS, thickness=SLAB_THICKNESS, hint=0.0015)

PRESSURE_FIELD = Scene(
    name="pressure_field",
    title="Spheres on a slab, against its pressure field",
    quantity="depth of the sphere of 10 kg [mm]",
    error="largest relative error of the three depths",
    exact=1e3 * calc_slab_depth(9.81 * MASSES[-1]),
    make_world=partial(make_spheres, _SLAB_SURFACE, calc_slab_depth, friction=0.5),
    steps=(1e-2, 5e-3, 2e-3),
    duration=1.0,
    measure=partial(measure_depths, calc_depth=calc_slab_depth),
    energy_scale=None,
    needs_field=True,
    derivation="""
Rigid spheres at rest on a slab with a pressure field, against the integral of its pressure.

The pressure at the depth z is E z / H. Its vertical force on the sphere is the integral of E z / H
over the circle of touch, E / H times the volume of the cap below the surface:

    f = (E / H) pi d^2 (3 R - d) / 3.

Newton's method gives the depth d of a load.
""",
)
