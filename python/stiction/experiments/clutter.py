"""Clutter: columns of spheres and boxes dropped into a box, [castro2023] section X.A.

The paper gives 40 bodies in 4 columns of 10 in a box 80 cm wide, spheres of 10 cm and 0.524 kg, boxes
of 10 cm and 1 kg, k = 1e7 N/m, d = 10 s/m, tau_d = 1e-4 s, mu = 1 and dt = 2e-3 s. It leaves open, and
we choose: columns on a square grid of 0.4 m, 12 cm from centre to centre, the lowest at 7 cm; sphere and
box in turn; each body aside by up to 1 cm, uniform, numpy's default_rng(seed); a floor and four walls,
all half-spaces. More bodies are more columns in a wider box.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stiction.errors import Error
from stiction.experiments.mujoco_contact import make_contact_attributes

RADIUS = 0.05  # of spheres, and half the side of boxes [m]
SPHERE_MASS = 0.524  # [kg]
BOX_MASS = 1.0  # [kg]
GRAVITY = 9.81  # [m/s^2]
TIME_STEP = 2e-3  # [s]
STIFFNESS = 1e7  # of a pair [N/m]
DISSIPATION = 10.0  # of a pair [s/m]
RELAXATION_TIME = 1e-4  # of a pair [s]
FRICTION = 1.0  # [-]

_COLUMN_PITCH = 0.4  # [m]
_LEVELS = 10
_MAX_COLUMNS = 100  # on a side: more bodies than anyone waits for


@dataclass(frozen=True)
class ClutterBody:
    """is_sphere: else a box. position: of the centre at the start [m]."""

    is_sphere: bool
    position: tuple[float, float, float]


@dataclass(frozen=True)
class ClutterScene:
    """side: of the square box [m]."""

    side: float
    bodies: tuple[ClutterBody, ...]


def check_num_bodies(num_bodies: int) -> int:
    """Columns on a side of the square grid.

    Raises:
        Error: num_bodies is not 10 times a square number, or above 10 * 100^2.
    """
    columns = math.isqrt(max(num_bodies, 0) // _LEVELS)
    if columns == 0 or _LEVELS * columns**2 != num_bodies or columns > _MAX_COLUMNS:
        first = min(max(columns, 1), _MAX_COLUMNS - 1)
        below, above = (_LEVELS * n * n for n in (first, first + 1))
        raise Error(
            "invalid_value",
            "bodies",
            f"is {num_bodies}, must be {_LEVELS} times a square number up to {_MAX_COLUMNS}^2, "
            f"such as {below} or {above}",
        )
    return columns


def make_clutter(num_bodies: int, seed: int = 0) -> ClutterScene:
    """The scene. num_bodies: 10 times a square number: 10, 40, 90, 160 ...; seed: of the places aside.

    Raises:
        Error: any other number.
    """
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
    """Point and inward normal of the floor and the four walls."""
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
) -> str:
    """The scene for MuJoCo, with elliptic cones and contacts under which 1 kg sags as on the spring asked
    for, where MuJoCo allows that.

    Args:
        time_step: [s].
        stiffness: of a pair [N/m].
        gap: of geoms: contacts exist before they touch [m].
    """
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
            f'<geom type="sphere" size="{RADIUS}" mass="{SPHERE_MASS}"/>'
            if body.is_sphere
            else f'<geom type="box" size="{RADIUS} {RADIUS} {RADIUS}" mass="{BOX_MASS}"/>'
        )
        parts.append(f'<body pos="{_join(body.position)}"><freejoint/>{geom}</body>')
    parts.append("</worldbody></mujoco>")
    return "".join(parts)


def make_properties(stiffness: float = STIFFNESS) -> dict[str, object]:
    """Contact properties of every geom: two in series make the pair's, of this stiffness [N/m]."""
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
