"""Places of scenes and camera, which sees what films are about to the end."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.recording import format as fmt
from stiction.view.film import Film

_MAX_FRAMES = 100  # of a film that are looked at
_MIN_STAGE = 0.15  # of the extent: a subject is not seen from nearer
Vector = NDArray[np.float64]

_SPACING = 1.45  # distance of two scenes, as a multiple of the model's extent
# Ratio of width to height of the part of a page that shows all scenes. It is 1.2 in a window of
# 1280 x 800 beside the panel, and 1.25 in a written page on a phone.
ASPECT = 1.1
_VISIBLE = 0.6  # radius around the center that the camera sees, as a multiple of the extent
_MAX_GROWTH = 3.0  # of the extent


@dataclass(frozen=True)
class Reach:
    """A box with corners (3,) [m] of which the camera sees all.

    is_subject: True if it contains the bodies that touch each other while they move, such as a cube
        and the fingers that hold it; False if there are none, and it has the centers of all moving
        geoms.
    """

    low: Vector
    high: Vector
    is_subject: bool = False


def find_reach(films: Sequence[Film]) -> Reach | None:
    """Returns the reach of films of one model, or None if nothing can move."""
    model = films[0].model
    data = mujoco.MjData(model)
    moves = model.body_weldid[model.geom_bodyid] > 0
    touching: set[int] = set()
    centers, corners = [], []
    for film in films:
        for frame in film.frames[:: -(-len(film.frames) // _MAX_FRAMES)]:
            mujoco.mj_setState(model, data, frame.start, fmt.INTEGRATION)
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_collision(model, data)
            bodies = model.geom_bodyid[data.contact.geom]
            touching.update(bodies[(model.body_weldid[bodies] > 0).all(axis=1)].flat)
            centers.append(data.geom_xpos[moves])
            corners.append(_find_corners(model, data))
    points, is_subject = np.concatenate(centers), bool(touching)
    if is_subject:
        of_subject = np.isin(model.geom_bodyid, list(touching))
        points = np.array(corners)[:, of_subject].reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)]
    return Reach(points.min(axis=0), points.max(axis=0), is_subject) if len(points) else None


def _find_corners(model: mujoco.MjModel, data: mujoco.MjData) -> Vector:
    """Returns the corners of the boxes of all geoms, (ngeom, 8, 3) [m]."""
    signs = np.array(list(itertools.product((-1, 1), repeat=3)))
    local = model.geom_aabb[:, None, :3] + signs * model.geom_aabb[:, None, 3:]
    turned = np.einsum("gij,gkj->gki", data.geom_xmat.reshape(-1, 3, 3), local)
    return np.asarray(data.geom_xpos[:, None] + turned)


@dataclass(frozen=True)
class Layout:
    """Scenes in a row at offsets, (n, 3) [m], and the camera that sees them.

    label: position of a scene's label in the scene, (3,) [m].
    camera, look_at: position of the camera, and the point that it looks at, (3,) [m].
    fov: vertical field of view [rad].
    """

    offsets: Vector
    spacing: float
    label: Vector
    camera: Vector
    look_at: Vector
    fov: float
    size: float


def make_layout(model: mujoco.MjModel, count: int, reach: Reach | None = None) -> Layout:
    """Places scenes of a model in a row from left to right.

    The camera is the model's free camera, moved so that the bodies of the `reach` fill the picture
    and are visible all the time, unless they go far beyond the scene.
    """
    view = model.vis.global_
    azimuth, elevation = np.radians([view.azimuth, view.elevation])
    forward = np.array(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )
    right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
    center, size = _find_stage(model, reach)
    spacing = _SPACING * size
    fov = np.radians(view.fovy)
    places = np.arange(count) - (count - 1) / 2
    width = spacing * (count + 0.1)
    distance = max(1.5 * size, width / ASPECT / (2 * np.tan(fov / 2)))
    return Layout(
        offsets=places[:, None] * spacing * right,
        spacing=spacing,
        label=center - np.array([0, 0, 0.55 * size]),
        camera=center - distance * forward,
        look_at=center,
        fov=float(fov),
        size=size,
    )


def move_back(layout: Layout, aspect: float) -> Vector:
    """Returns a camera's position, (3,) [m], that shows all scenes for a ratio of width to height."""
    away = layout.camera - layout.look_at
    return layout.look_at + away * max(1.0, ASPECT / max(aspect, 0.1))


def _find_stage(model: mujoco.MjModel, reach: Reach | None) -> tuple[Vector, float]:
    """Returns the center and the extent of what the camera sees [m]: the model's own, or more."""
    center, size = np.array(model.stat.center), float(model.stat.extent)
    if reach is None:
        return center, size
    middle, radius = (reach.low + reach.high) / 2, np.linalg.norm(reach.high - reach.low) / 2
    if radius > _VISIBLE * _MAX_GROWTH * size:  # a body falls out of the scene
        return center, size
    if reach.is_subject:
        return middle, max(_MIN_STAGE * size, float(radius) / _VISIBLE)
    farthest = np.linalg.norm(np.maximum(np.abs(reach.low - center), np.abs(reach.high - center)))
    if farthest <= _VISIBLE * size:
        return center, size
    return middle, max(size, float(radius) / _VISIBLE)


def set_stage(server: Any, layout: Layout) -> None:
    """Gives a page a camera that sees all scenes, and lights.

    There are neither shadows nor an environment. Without a GPU, shadows cost a browser five times as much
    as all the rest, and an environment delays the first picture by seconds.
    """
    server.scene.configure_default_lights(cast_shadow=False)
    server.scene.configure_environment_map(None)
    server.scene.add_light_hemisphere(
        "/sky", sky_color=(255, 255, 255), ground_color=(150, 150, 150), intensity=2.0
    )
    camera = server.initial_camera
    camera.position, camera.look_at = tuple(layout.camera), tuple(layout.look_at)
    camera.fov, camera.up = layout.fov, (0.0, 0.0, 1.0)
    camera.near, camera.far = 0.01 * layout.size, 200 * layout.size
