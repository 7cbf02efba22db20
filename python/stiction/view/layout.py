"""Places of scenes and camera, which sees bodies of films to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.recording import format as fmt
from stiction.view.film import Film

_MAX_FRAMES = 100  # of a film that are looked at
Vector = NDArray[np.float64]

_SPACING = 1.45  # distance of two scenes, as a multiple of the model's extent
# Ratio of width to height of the part of a page that shows all scenes. It is 1.2 in a window of
# 1280 x 800 beside the panel, and 1.25 in a written page on a phone.
ASPECT = 1.1
_VISIBLE = 0.6  # radius around the center that the camera sees, as a multiple of the extent
_MAX_GROWTH = 3.0  # of the extent


@dataclass(frozen=True)
class Reach:
    """The box with corners (3,) [m] that contains the centers of all moving geoms in all frames."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def find_reach(films: Sequence[Film]) -> Reach | None:
    """Returns the reach of films of one model, or None if nothing can move."""
    model = films[0].model
    data = mujoco.MjData(model)
    moves = model.body_weldid[model.geom_bodyid] > 0
    places = [np.empty((0, 3))]
    for film in films:
        for frame in film.frames[:: -(-len(film.frames) // _MAX_FRAMES)]:
            mujoco.mj_setState(model, data, frame.start, fmt.INTEGRATION)
            mujoco.mj_kinematics(model, data)
            places.append(data.geom_xpos[moves])
    points = np.concatenate(places)
    points = points[np.isfinite(points).all(axis=1)]
    return Reach(points.min(axis=0), points.max(axis=0)) if len(points) else None


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

    The camera is the model's free camera, moved back so that all scenes are visible all the time, unless
    bodies go far beyond their `reach`.
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
    width = spacing * (count + 0.5)
    distance = max(1.5 * size, width / ASPECT / (2 * np.tan(fov / 2)))
    return Layout(
        offsets=places[:, None] * spacing * right,
        spacing=spacing,
        label=center - np.array([0, 0, 0.6 * size]),
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
    farthest = np.linalg.norm(np.maximum(np.abs(reach.low - center), np.abs(reach.high - center)))
    if farthest <= _VISIBLE * size:
        return center, size
    middle, radius = (reach.low + reach.high) / 2, np.linalg.norm(reach.high - reach.low) / 2
    if radius > _VISIBLE * _MAX_GROWTH * size:  # a body falls out of the scene
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
