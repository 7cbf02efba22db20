"""Draws contacts and patches as geoms of MuJoCo: disks and arrows in the colors of `stiction view`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.studio.snapshots import ContactsSnapshot, Vector
from stiction.view.palette import FORCE, SLIP, STICK, color_pressures, parse_color
from stiction.view.pressure_scale import PressureScale

_POINT_SIZE = 0.03  # radius of the disk of a contact point over the mean size of bodies [-]
_FLATNESS = 0.04  # half the height of a disk over its radius [-]


@dataclass
class Style:
    """What is drawn, and how.

    Attributes:
        forces: True if contact points have the arrows of their forces.
        arrow_length: length of the arrow of a mean body's weight over the mean size of bodies [-].
        scale: the pressure that has the last color.
    """

    forces: bool = True
    arrow_length: float = 2.0
    scale: PressureScale = field(default_factory=PressureScale)


def make_geoms(shown: ContactsSnapshot, model: mujoco.MjModel, style: Style) -> list[Any]:
    """Makes the geoms of contacts: disks at contact points, arrows of their forces, and a disk with the
    area and the color of its pressure for each face of a patch.
    """
    size = _POINT_SIZE * float(model.stat.meansize)
    geoms = [
        _make_disk(point, normal, size, parse_color(SLIP if slips else STICK))
        for point, normal, slips in zip(shown.point, shown.normal, shown.slips, strict=True)
    ]
    if style.forces:
        length = style.arrow_length * _find_length_of_force(model)
        geoms += [
            _make_arrow(point, point + length * force, size / 3)
            for point, force in zip(shown.point, shown.force, strict=True)
        ]
    style.scale.include(float(shown.pressure.max(initial=0.0)))
    colors = color_pressures(shown.pressure, style.scale.top)
    rows = zip(shown.face, shown.face_normal, shown.face_radius, colors, strict=True)
    return geoms + [_make_disk(*row) for row in rows]


def _find_length_of_force(model: mujoco.MjModel) -> float:
    """Returns the mean size of bodies over the weight of a mean body [m/N]."""
    gravity = float(np.linalg.norm(model.opt.gravity)) or 9.81
    return float(model.stat.meansize) / max(float(model.stat.meanmass) * gravity, 1e-12)


def _make_arrow(start: Vector, end: Vector, width: float) -> mujoco.MjvGeom:
    arrow = _make_geom(
        mujoco.mjtGeom.mjGEOM_ARROW, np.zeros(3), start, np.eye(3), parse_color(FORCE)
    )
    mujoco.mjv_connector(arrow, int(mujoco.mjtGeom.mjGEOM_ARROW), width, start, end)
    return arrow


def _make_disk(center: Vector, normal: Vector, radius: float, color: Vector) -> mujoco.MjvGeom:
    """Makes a flat cylinder about a normal."""
    rotation, quaternion = np.zeros(9), np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, normal)
    mujoco.mju_quat2Mat(rotation, quaternion)
    # mjv_initGeom reads the radius of a cylinder and half its height, as geom_size has them.
    size = np.array([radius, _FLATNESS * radius, 0.0])
    return _make_geom(mujoco.mjtGeom.mjGEOM_CYLINDER, size, center, rotation, color)


def _make_geom(
    kind: Any, size: Vector, position: Vector, rotation: NDArray[np.float64], color: Vector
) -> mujoco.MjvGeom:
    geom = mujoco.MjvGeom()
    rgba = np.append(color, 1.0).astype(np.float32)
    mujoco.mjv_initGeom(geom, int(kind), size, position, rotation.flatten(), rgba)
    return geom
