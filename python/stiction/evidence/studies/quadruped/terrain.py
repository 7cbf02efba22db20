"""Terrains for a walking robot: random heights on a grid."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

PITCH = 1 / 249  # pitch of the published grid, 250 heights over 1 m [m]
ROUGHNESS = 1e-6  # standard deviation of its heights [m]
HILL_PITCH, HILL_EXTENT, HILL_HEIGHT = 0.02, 3.0, 0.02  # [m]
NUM_HILLS = 1000
# Range of the standard deviations of the Gaussian hills [m]. The hills are as steep as the published
# ones.
_HILL_WIDTHS = (0.04, 0.12)

_THICKNESS = 0.1  # thickness of the ground below its lowest height [m]


@dataclass(frozen=True)
class Terrain:
    """A grid of heights."""

    heights: Vector  # heights in rows along x, from the smallest x and y, (num_y, num_x) [m]
    pitch: float  # distance between two heights [m]
    center: tuple[float, float] = (0.0, 0.0)  # x and y of the grid's center in the world [m]

    @property
    def half_size(self) -> tuple[float, float]:
        """Half the extent of the grid along x and y [m]."""
        num_y, num_x = self.heights.shape
        return self.pitch * (num_x - 1) / 2, self.pitch * (num_y - 1) / 2

    def calc_height(self, x: float, y: float) -> float:
        """Returns the bilinearly interpolated height [m], or that of the nearest border outside."""
        shape = self.heights.shape
        at = np.array([y - self.center[1], x - self.center[0]]) + self.half_size[::-1]
        at = np.clip(at / self.pitch, 0, np.array(shape) - 1)
        i, j = np.minimum(at.astype(int), np.array(shape) - 2)
        b, a = at - (i, j)
        h = self.heights[i : i + 2, j : j + 2]
        return float(np.array([1 - b, b]) @ h @ np.array([1 - a, a]))

    def put_into(self, spec: mujoco.MjSpec) -> None:
        """Sets the height field `terrain` of the geom `ground`."""
        low = float(self.heights.min())
        span = float(self.heights.max()) - low
        field, ground = spec.hfield("terrain"), spec.geom("ground")
        field.nrow, field.ncol = self.heights.shape
        field.size = [*self.half_size, span, _THICKNESS]
        field.userdata = self.heights.ravel().tolist()
        ground.pos = [*self.center, low]


def make_rough_terrain(length: float = 2.0, seed: int = 1, pitch: float = PITCH) -> Terrain:
    """Makes white noise like the published one: a flat floor on which a foot touches several faces.
    It is longer than the published 1 m, from 0.5 m behind the origin, for walks of 10 s at 0.05
    m/s, and 1 m wide."""
    num_x, num_y = round(length / pitch) + 1, round(1 / pitch) + 1
    noise = np.random.default_rng(seed).normal(scale=ROUGHNESS, size=(num_y, num_x))
    return Terrain(noise, pitch, (length / 2 - 0.5, 0.0))


def make_hills(seed: int = 1) -> Terrain:
    """Makes 3 m by 3 m of 1000 added Gaussian hills. The total height is between 0 and 0.02 m."""
    random = np.random.default_rng(seed)
    count = round(HILL_EXTENT / HILL_PITCH) + 1
    x = np.linspace(-HILL_EXTENT / 2, HILL_EXTENT / 2, count)
    heights = np.zeros((count, count))
    for _ in range(NUM_HILLS):
        width = random.uniform(*_HILL_WIDTHS)
        along, across = (
            np.exp(-(((x - random.uniform(x[0], x[-1])) / width) ** 2) / 2) for _ in range(2)
        )
        heights += random.random() * np.outer(across, along)
    heights -= heights.min()
    return Terrain(heights * HILL_HEIGHT / heights.max(), HILL_PITCH)
