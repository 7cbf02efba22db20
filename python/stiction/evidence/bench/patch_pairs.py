"""Pairs of overlapping shapes with random orientations, for timing contact surfaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

KINDS = ("compliant-compliant", "rigid-compliant", "half space")

_RADIUS = 0.05  # [m]
_HINT = 0.01  # [m]
_SHAPES: dict[str, tuple[float, ...]] = {
    "sphere": (_RADIUS,),
    "ellipsoid": (0.06, 0.045, 0.03),
    "capsule": (0.03, 0.05),
    "cylinder": (0.04, 0.04),
    "box": (0.05, 0.04, 0.03),
}
_DEPTHS = (0.01, 0.02)  # [m]
_COMPLIANT = {"hydroelastic_modulus": 1e6, "resolution_hint": _HINT}
_RIGID = {"rigid": True, "resolution_hint": _HINT}
_PLANES = ({"hydroelastic_modulus": 1e6, "slab_thickness": 0.05}, {"rigid": True})


@dataclass(frozen=True)
class ShapePair:
    """A pair of overlapping geoms: 'A' belongs to the world and 'B' to a free body.

    name: name of the pair.
    kind: one of KINDS.
    model, data: the model, and data with its kinematics computed.
    materials: material of each geom by the geom's name.
    """

    name: str
    kind: str
    model: mujoco.MjModel
    data: mujoco.MjData
    materials: dict[str, dict[str, Any]]

    @property
    def properties(self) -> dict[str, Any]:
        """The materials as the content of a file of contact properties."""
        return {"materials": self.materials, "geoms": {name: name for name in self.materials}}


def make_pairs(seed: int = 0) -> Iterator[ShapePair]:
    """Yields all pairs at two depths.

    These are all pairs of five shapes, compliant-compliant and rigid-compliant, and each shape with
    a compliant and a rigid plane.
    """
    rng = np.random.default_rng(seed)
    for a, b in combinations_with_replacement(_SHAPES, 2):
        for depth in _DEPTHS:
            yield _make_pair(KINDS[0], a, b, depth, (_COMPLIANT, _COMPLIANT), rng)
            yield _make_pair(KINDS[1], a, b, depth, (_RIGID, _COMPLIANT), rng)
    for b in _SHAPES:
        for depth in _DEPTHS:
            yield _make_pair(KINDS[2], "plane", b, depth, (_PLANES[0], _RIGID), rng)
            yield _make_pair(KINDS[2], "plane", b, depth, (_PLANES[1], _COMPLIANT), rng)


def _make_pair(
    kind: str,
    a: str,
    b: str,
    depth: float,
    materials: tuple[dict[str, Any], dict[str, Any]],
    rng: np.random.Generator,
) -> ShapePair:
    R_WB = _draw_rotation(rng)
    if a == "plane":
        R_WA, direction = np.eye(3), np.array([0.0, 0.0, 1.0])
    else:
        R_WA, direction = _draw_rotation(rng), rng.standard_normal(3)
        direction /= np.linalg.norm(direction)
    # Place B such that the shapes overlap by the depth along the direction.
    reach = _calc_support(a, R_WA.T @ direction) + _calc_support(b, -R_WB.T @ direction)
    position = (reach - depth) * direction
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody>
        <geom name="A" type="{a}" size="{_join(_SHAPES.get(a, (0, 0, 1)))}" quat="{_quaternion(R_WA)}"/>
        <body name="B" pos="{_join(position)}" quat="{_quaternion(R_WB)}"><freejoint/>
        <geom name="B" type="{b}" size="{_join(_SHAPES[b])}" mass="1"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    name = f"{a}-{b} {1000 * depth:g} mm"
    return ShapePair(name, kind, model, data, dict(zip("AB", materials, strict=True)))


def _calc_support(shape: str, u: Vector) -> float:
    """Returns the extent of a shape along a unit vector in its own frame [m]."""
    if shape == "plane":
        return 0.0
    size = np.array(_SHAPES[shape])
    match shape:
        case "sphere":
            return float(size[0])
        case "ellipsoid":
            return float(np.linalg.norm(size * u))
        case "capsule":
            return float(size[0] + size[1] * abs(u[2]))
        case "cylinder":
            return float(size[0] * np.hypot(u[0], u[1]) + size[1] * abs(u[2]))
        case _:
            return float(size @ np.abs(u))


def _draw_rotation(rng: np.random.Generator) -> Vector:
    quaternion = rng.standard_normal(4)
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion / np.linalg.norm(quaternion))
    return R.reshape(3, 3)


def _quaternion(R: Vector) -> str:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, R.ravel())
    return _join(quaternion)


def _join(values: Any) -> str:
    return " ".join(repr(float(v)) for v in values)
