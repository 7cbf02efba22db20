"""A contact patch as it appears along its normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import stiction

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class FlatPatch:
    """A contact patch in the plane of its force. The origin is the center of the patch.

    faces: vertices of each face, (k, 2) [m].
    center: centers of the faces, (n, 2) [m].
    pressure: pressure of the fields at the centers, (n) [Pa].
    friction: friction on the second body per area, (n, 2) [Pa].
    slipping: whether each face slips, (n).
    """

    faces: tuple[Vector, ...]
    center: Vector
    pressure: Vector
    friction: Vector
    slipping: NDArray[np.bool_]


def flatten_patch(patch: stiction.ContactPatch, axis: Vector) -> FlatPatch:
    """Projects a patch on the plane normal to its mean normal.

    Args:
        patch: the patch.
        axis: direction in the world that becomes the first axis of the plane, (3).
    """
    normal = patch.face_area @ patch.face_normal
    normal /= np.linalg.norm(normal)
    x = axis - (axis @ normal) * normal
    x /= np.linalg.norm(x)
    plane = np.stack([x, np.cross(normal, x)], axis=1)
    friction = patch.traction - patch.normal_traction[:, None] * patch.face_normal
    vertices = (patch.vertices - patch.center) @ plane
    return FlatPatch(
        faces=tuple(np.split(vertices, patch.faces[1:-1])),
        center=(patch.face_center - patch.center) @ plane,
        pressure=patch.pressure.copy(),
        friction=friction @ plane,
        slipping=patch.slipping.copy(),
    )
