"""Colors of contact models, and triangles of faces, as pictures have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction._core import contact_model_traits, contact_models

_GRAY = "#888888"


def find_color(contact_model: str) -> str:
    """Returns the color of a contact model, the same wherever it is drawn.

    A model whose row in the table of models has no color is gray, and so is any other name.
    """
    if contact_model not in contact_models():
        return _GRAY
    return contact_model_traits(contact_model).color or _GRAY


def triangulate_polygons(starts: NDArray[Any]) -> NDArray[np.int64]:
    """Divides convex polygons into fans of triangles, (m, 3) indices of vertices.

    The vertices of polygon i are [starts[i], starts[i + 1]).
    """
    starts = np.asarray(starts, np.int64)
    counts = np.maximum(np.diff(starts) - 2, 0)  # triangles of each polygon
    first = np.repeat(starts[:-1], counts)
    rank = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([first, first + rank + 1, first + rank + 2], axis=1)
