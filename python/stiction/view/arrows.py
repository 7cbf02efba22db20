"""Arrows of traction and slip on faces, and of forces at contact points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stiction.view.colored_mesh import ColoredMesh
from stiction.view.contact_arrays import PatchArrays, PointArrays
from stiction.view.palette import FALLBACK, FORCE, SLIP, SLIP_ARROW, STICK, TRACTION, parse_color

Vectors = NDArray[np.float64]

_MAX_ARROWS = 300  # more arrows than this would hide the patch
_SHORTEST = 0.05  # length of the shortest arrow that is drawn, relative to the longest


@dataclass(frozen=True)
class ArrowKind:
    """A kind of arrows: what they show in a unit, and a color such as '#d62728'."""

    meaning: str
    unit: str
    color: str


ARROW_KINDS = {
    "traction": ArrowKind("traction on the second body", "Pa", TRACTION),
    "slip": ArrowKind("slip velocity of the second body", "m/s", SLIP_ARROW),
    "forces": ArrowKind("force on the second body", "N", FORCE),
}


@dataclass(frozen=True)
class ArrowCount:
    """How many of all nonzero vectors are drawn, and the size of the largest vector."""

    drawn: int = 0
    total: int = 0
    largest: float = 0.0


@dataclass(frozen=True)
class Arrows:
    """Arrows to draw, with start and end of each line [m], (n, 2, 3)."""

    lines: Vectors = field(default_factory=lambda: np.zeros((0, 2, 3)))
    count: ArrowCount = ArrowCount()


def add_counts(counts: Iterable[ArrowCount]) -> ArrowCount:
    """Returns the count of several scenes."""
    counts = list(counts)
    return ArrowCount(
        sum(count.drawn for count in counts),
        sum(count.total for count in counts),
        max((count.largest for count in counts), default=0.0),
    )


def make_traction_arrows(patches: PatchArrays, length: float) -> Arrows:
    """Returns the tractions on the second bodies. The longest arrow has this length [m]."""
    return _make_arrows(patches.center, patches.traction, length)


def make_slip_arrows(patches: PatchArrays, length: float) -> Arrows:
    """Returns the slip velocities of faces that slip. The longest arrow has this length [m]."""
    slips = patches.slipping
    return _make_arrows(patches.center[slips], patches.slip_velocity[slips], length)


def make_force_arrows(points: PointArrays, length: float) -> Arrows:
    """Returns the largest forces on the second bodies. The longest arrow has this length [m]."""
    largest = np.argsort(-np.linalg.norm(points.force, axis=1), kind="stable")
    return _make_arrows(points.point[largest], points.force[largest], length, takes_first=True)


def _make_arrows(
    start: Vectors, vectors: Vectors, length: float, *, takes_first: bool = False
) -> Arrows:
    """Returns arrows scaled to the largest, without short ones; of more than 300 every nth."""
    size = np.linalg.norm(vectors, axis=1)
    largest = float(size.max(initial=0))
    shown = np.flatnonzero(size > _SHORTEST * largest)
    if not len(shown):
        return Arrows()
    stride = 1 if takes_first else -(-len(shown) // _MAX_ARROWS)
    shown = shown[::stride][:_MAX_ARROWS]
    tips = start[shown] + vectors[shown] * (length / largest)
    count = ArrowCount(len(shown), int(np.count_nonzero(size)), largest)
    return Arrows(np.stack([start[shown], tips], axis=1), count)


# ---- Point contacts as discs: one color sticks, another slips, and a third replaces a patch

_CORNERS = 20


def draw_discs(points: PointArrays, radius: float) -> ColoredMesh:
    """Returns a disc of a radius [m] at each point, with a ring if the pair fell back from a patch."""
    colors = np.where(points.slipping[:, None], parse_color(SLIP), parse_color(STICK))
    discs = _make_rings(points.point, points.normal, 0, radius, colors)
    fallen = points.is_fallback
    ring = np.tile(parse_color(FALLBACK), (int(fallen.sum()), 1))
    rings = _make_rings(
        points.point[fallen], points.normal[fallen], 1.2 * radius, 1.7 * radius, ring
    )
    return ColoredMesh(
        np.concatenate([discs.vertices, rings.vertices]),
        np.concatenate([discs.triangles, rings.triangles + len(discs.vertices)]),
        np.concatenate([discs.colors, rings.colors]),
    )


def _make_rings(
    centers: NDArray[np.float64],
    normals: NDArray[np.float64],
    inner: float,
    outer: float,
    colors: NDArray[np.float64],
) -> ColoredMesh:
    """Returns flat rings with these radii [m] and colors; an inner radius of 0 gives discs."""
    x = np.cross(normals, np.where(np.abs(normals[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    y = np.cross(normals, x)
    angle = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    around = x[:, None] * np.cos(angle)[:, None] + y[:, None] * np.sin(angle)[:, None]
    rims = np.stack([inner * around, outer * around], axis=1) + centers[:, None, None]
    i = np.arange(_CORNERS)
    j = (i + 1) % _CORNERS
    quads = np.concatenate(
        [np.stack([i, i + _CORNERS, j + _CORNERS], 1), np.stack([i, j + _CORNERS, j], 1)]
    )
    shift = 2 * _CORNERS * np.arange(len(centers))[:, None, None]
    return ColoredMesh(
        rims.reshape(-1, 3), (quads + shift).reshape(-1, 3), np.repeat(colors, 2 * _CORNERS, axis=0)
    )
