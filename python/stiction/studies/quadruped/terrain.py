"""Ground for a walking robot: heights on a grid, drawn with a seed of its own."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

PITCH = 1 / 249  # of the published grid, 250 heights over 1 m [m]
ROUGHNESS = 1e-6  # standard deviation of its heights [m]
HILL_PITCH, HILL_EXTENT, HILL_HEIGHT = 0.02, 3.0, 0.02  # [m]
NUM_HILLS = 1000
_HILL_WIDTHS = (
    0.04,
    0.12,
)  # standard deviations of the bells, so that hills are as steep as the published [m]

_THICKNESS = 0.1  # below the lowest height [m]


@dataclass(frozen=True)
class Terrain:
    """heights: [m], (num_y, num_x), row by row along x, from the smallest x and y.
    pitch: between heights [m]. center: of the grid in the world [m], (x, y).
    """

    heights: Vector
    pitch: float
    center: tuple[float, float] = (0.0, 0.0)

    @property
    def half_size(self) -> tuple[float, float]:
        """Along x and y [m]."""
        num_y, num_x = self.heights.shape
        return self.pitch * (num_x - 1) / 2, self.pitch * (num_y - 1) / 2

    def calc_height(self, x: float, y: float) -> float:
        """Between the grid's heights, bilinear [m]; at the nearest border outside."""
        shape = self.heights.shape
        at = np.array([y - self.center[1], x - self.center[0]]) + self.half_size[::-1]
        at = np.clip(at / self.pitch, 0, np.array(shape) - 1)
        i, j = np.minimum(at.astype(int), np.array(shape) - 2)
        b, a = at - (i, j)
        h = self.heights[i : i + 2, j : j + 2]
        return float(np.array([1 - b, b]) @ h @ np.array([1 - a, a]))

    def put_into(self, spec: mujoco.MjSpec) -> None:
        """As the height field `terrain` of the geom `ground`."""
        low = float(self.heights.min())
        span = float(self.heights.max()) - low
        field, ground = spec.hfield("terrain"), spec.geom("ground")
        field.nrow, field.ncol = self.heights.shape
        field.size = [*self.half_size, span, _THICKNESS]
        field.userdata = self.heights.ravel().tolist()
        ground.pos = [*self.center, low]


def make_rough_terrain(length: float = 2.0, seed: int = 1) -> Terrain:
    """White noise as the published: a flat floor on which a foot meets several faces at once. That is 1 m
    long, of which a walk of 10 s at 0.05 m/s uses more.

    Args:
        length: along x, from 0.5 m behind the origin [m]; width: 1 m.
    """
    num_x, num_y = round(length / PITCH) + 1, round(1 / PITCH) + 1
    noise = np.random.default_rng(seed).normal(scale=ROUGHNESS, size=(num_y, num_x))
    return Terrain(noise, PITCH, (length / 2 - 0.5, 0.0))


def make_hills(seed: int = 1) -> Terrain:
    """3 m by 3 m of 1000 Gaussian hills, together from 0 to 0.02 m high."""
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
