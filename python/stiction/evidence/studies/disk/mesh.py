"""The surface of a disk as a mesh of rings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Faces = NDArray[np.int_]


def make_ring_mesh(
    radius: float, thickness: float, num_rings: int, grading: float = 1.0
) -> tuple[Vector, Faces]:
    """Makes a disk's surface with caps of 6 k^2 triangles in k rings: vertices, (n, 3), and
    triangles, (m, 3), counterclockwise from outside. Ring i has 6 i vertices at the fraction
    (i/k)^p of the radius, with the grading p."""
    top, cap = _make_cap(radius, thickness, num_rings, grading)
    count, rim = len(top), 6 * num_rings
    vertices = np.vstack([top, top * [1, 1, -1]])
    # The vertices of the last ring are the last ones of a cap.
    upper = count - rim + np.arange(rim)
    next_upper = np.roll(upper, -1)
    lower, next_lower = upper + count, next_upper + count
    wall = np.vstack(
        [
            np.stack([lower, next_lower, next_upper], axis=-1),
            np.stack([lower, next_upper, upper], axis=-1),
        ]
    )
    return vertices, np.vstack([cap, cap[:, ::-1] + count, wall])


def _make_cap(
    radius: float, thickness: float, num_rings: int, grading: float
) -> tuple[Vector, Faces]:
    vertices = [[0.0, 0.0, thickness / 2]]
    for i in range(1, num_rings + 1):
        for angle in 2 * math.pi * np.arange(6 * i) / (6 * i):
            r = radius * (i / num_rings) ** grading
            vertices.append([r * math.cos(angle), r * math.sin(angle), thickness / 2])
    triangles = [t for i in range(1, num_rings + 1) for t in _join_rings(i)]
    return np.array(vertices), np.array(triangles)


def _join_rings(i: int) -> Iterator[Sequence[int]]:
    """Yields the triangles between ring i - 1 and ring i, sextant by sextant."""
    first = [0, *(1 + 3 * k * (k + 1) for k in range(i + 1))]  # index of the first vertex of ring k

    def inner(j: int) -> int:
        return 0 if i == 1 else first[i - 1] + j % (6 * (i - 1))

    def outer(j: int) -> int:
        return first[i] + j % (6 * i)

    for sextant in range(6):
        for j in range(i):
            a, b = sextant * (i - 1) + j, sextant * i + j
            yield inner(a), outer(b), outer(b + 1)
            if j < i - 1:
                yield inner(a), outer(b + 1), inner(a + 1)
