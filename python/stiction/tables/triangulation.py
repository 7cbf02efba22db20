"""Triangles of convex polygons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def triangulate_polygons(starts: NDArray[Any]) -> NDArray[np.int64]:
    """Returns triangles (m, 3) of convex polygons with vertices [starts[i], starts[i + 1]), (n + 1,)."""
    starts = np.asarray(starts, np.int64)
    counts = np.maximum(np.diff(starts) - 2, 0)  # triangles of each polygon
    first = np.repeat(starts[:-1], counts)
    rank = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([first, first + rank + 1, first + rank + 2], axis=1)
