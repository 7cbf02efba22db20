"""Clutter: columns of spheres and boxes dropped into a box, [castro2023] section X.A.

The paper does not specify the following. The columns are on a square grid with a pitch of 0.4 m.
The centers in a column are 12 cm apart, and the lowest is at 7 cm. Spheres and boxes alternate,
displaced by up to 1 cm along x and y, uniformly by numpy's default_rng(seed). Floor and walls are
half-spaces. More bodies are more columns in a wider box.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stiction.errors import Error
from stiction.evidence.experiments.planar import make_contact_attributes

RADIUS = 0.05  # radius of spheres and half the side of boxes [m]
SPHERE_MASS = 0.524  # [kg]
BOX_MASS = 1.0  # [kg]
GRAVITY = 9.81  # [m/s^2]
TIME_STEP = 2e-3  # [s]
STIFFNESS = 1e7  # stiffness of a contact [N/m]
DISSIPATION = 10.0  # dissipation of a contact [s/m]
RELAXATION_TIME = 1e-4  # relaxation time of a contact [s]
FRICTION = 1.0  # [-]

_COLUMN_PITCH = 0.4  # [m]
_LEVELS = 10
_MAX_COLUMNS = 100  # columns on a side; a larger scene would take too long to simulate


@dataclass(frozen=True)
class ClutterBody:
    """A body of the clutter."""

    is_sphere: bool  # whether the body is a sphere; else it is a box
    position: tuple[float, float, float]  # initial position of the center [m]


@dataclass(frozen=True)
class ClutterScene:
    """The bodies, and the side of the square box that they fall into [m]."""

    side: float
    bodies: tuple[ClutterBody, ...]


def check_num_bodies(num_bodies: int) -> int:
    """Checks a number of bodies. Returns the number of columns on a side of the square grid."""
    columns = math.isqrt(max(num_bodies, 0) // _LEVELS)
    if columns == 0 or _LEVELS * columns**2 != num_bodies or columns > _MAX_COLUMNS:
        first = min(max(columns, 1), _MAX_COLUMNS - 1)
        below, above = (_LEVELS * n * n for n in (first, first + 1))
        raise Error(
            "invalid_value",
            "bodies",
            f"is {num_bodies}; must be {_LEVELS} times a square number up to {_MAX_COLUMNS}^2, "
            f"such as {below} or {above}",
        )
    return columns


def make_clutter(num_bodies: int, seed: int = 0) -> ClutterScene:
    """Makes the scene of 10 times a square number of bodies."""
    columns = check_num_bodies(num_bodies)
    side = _COLUMN_PITCH * columns
    rng = np.random.default_rng(seed)
    bodies = []
    for column in range(columns * columns):
        x = -side / 2 + _COLUMN_PITCH * (column % columns + 0.5)
        y = -side / 2 + _COLUMN_PITCH * (column // columns + 0.5)
        for level in range(_LEVELS):
            dx, dy = rng.uniform(-0.01, 0.01, 2)
            bodies.append(
                ClutterBody((column + level) % 2 == 0, (x + dx, y + dy, 0.07 + 0.12 * level))
            )
    return ClutterScene(side, tuple(bodies))


def make_walls(scene: ClutterScene) -> list[tuple[tuple[float, float, float], ...]]:
    """Returns a point and the inward normal of the floor and of each wall."""
    h = scene.side / 2
    return [
        ((0, 0, 0), (0, 0, 1)),
        ((-h, 0, 0), (1, 0, 0)),
        ((h, 0, 0), (-1, 0, 0)),
        ((0, -h, 0), (0, 1, 0)),
        ((0, h, 0), (0, -1, 0)),
    ]


def make_mjcf(
    scene: ClutterScene,
    time_step: float = TIME_STEP,
    stiffness: float = STIFFNESS,
    gap: float = 0.0,
    rolling_friction: float = 0.0,
) -> str:
    """Returns the scene as MJCF with elliptic cones, in which a mass of 1 kg sags as on a spring of
    the stiffness, if MuJoCo allows it. Contacts exist within the gap of the geoms."""
    rolls = (
        f' condim="6" friction="{FRICTION} 0.005 {rolling_friction!r}"' if rolling_friction else ""
    )
    attributes = make_contact_attributes(BOX_MASS, stiffness, time_step)
    parts = [
        f'<mujoco model="clutter"><size memory="400M"/>'
        f'<option timestep="{time_step!r}" cone="elliptic" gravity="0 0 {-GRAVITY}"/>'
        f'<default><geom friction="{FRICTION} 0.005 0.0001" condim="3" gap="{gap!r}"'
        f" {attributes}/></default>"
        "<worldbody>"
    ]
    for p, n in make_walls(scene):
        parts.append(f'<geom type="plane" size="0 0 1" pos="{_join(p)}" zaxis="{_join(n)}"/>')
    for body in scene.bodies:
        geom = (
            f'<geom type="sphere" size="{RADIUS}" mass="{SPHERE_MASS}"{rolls}/>'
            if body.is_sphere
            else f'<geom type="box" size="{RADIUS} {RADIUS} {RADIUS}" mass="{BOX_MASS}"/>'
        )
        parts.append(f'<body pos="{_join(body.position)}"><freejoint/>{geom}</body>')
    parts.append("</worldbody></mujoco>")
    return "".join(parts)


def make_properties(stiffness: float = STIFFNESS) -> dict[str, object]:
    """Returns contact properties of all geoms. The stiffnesses of two geoms act in series."""
    return {
        "materials": {
            "clutter": {
                "stiffness": 2 * stiffness,
                "dissipation": DISSIPATION,
                "relaxation_time": RELAXATION_TIME / 2,
            }
        },
        "geoms": {"*": "clutter"},
    }


def _join(values: tuple[float, ...]) -> str:
    return " ".join(repr(float(v)) for v in values)
