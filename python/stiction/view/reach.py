"""The space in which bodies of films move, so that the fixed camera of a page sees them to the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.recording import format as fmt
from stiction.view.film import Film

_MAX_FRAMES = 100  # of a film that are looked at


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
