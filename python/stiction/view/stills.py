"""Pictures of contact patches in 3D, drawn by matplotlib, so without a browser and without a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
import mujoco
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import NDArray

from stiction.meshing.tet_mesh import TetMesh
from stiction.surfaces import ContactSurfaces
from stiction.view.contact_arrays import PatchArrays
from stiction.view.film import Film
from stiction.view.frame import Frame

Vector = NDArray[np.float64]

_FONT = 9


def draw_stills(
    film: Film,
    frames: Sequence[tuple[str, Frame]],
    *,
    elevation: float = 20.0,
    azimuth: float = -60.0,
    margin: float = 0.3,
) -> Figure:
    """Draws the patches of some frames side by side, colored by pressure on one scale.

    The bodies with pressure fields are drawn around them as shells, as far as they fit.

    Args:
        film: the film of the frames.
        frames: a title and a frame for each picture.
        elevation, azimuth: direction from which one looks [degrees].
        margin: space around the patches, as a share of their size.
    """
    surfaces = ContactSurfaces(film.model, film.properties)
    with matplotlib.rc_context({"font.size": _FONT}):
        figure = Figure(figsize=(4.4 * len(frames) + 0.6, 3.8))
        figure.set_layout_engine("constrained")
        panels: list[Any] = [
            figure.add_subplot(1, len(frames), i + 1, projection="3d", computed_zorder=False)
            for i in range(len(frames))
        ]
        patches = [frame.read()[0] for _, frame in frames]
        norm = Normalize(
            0, max((p.vertex_pressure.max(initial=0) for p in patches), default=1) or 1
        )
        for axes, (title, frame), patch in zip(panels, frames, patches, strict=True):
            axes.view_init(elevation, azimuth)
            axes.set_title(f"{title}: {patch.num_faces} faces", y=0.95)
            low, high = _find_box(patch, margin)
            for vertices, triangles in _list_shells(film, surfaces, frame):
                _add_shell(axes, vertices, triangles, low, high)
            _add_patches(axes, patch, norm)
            _set_box(axes, low, high)
        colors = ScalarMappable(norm, "viridis")
        figure.colorbar(colors, ax=panels, label="contact pressure [Pa]", shrink=0.7, pad=0.1)
    return figure


def _add_patches(axes: Any, patches: PatchArrays, norm: Normalize) -> None:
    if not patches.num_faces:
        return
    faces = np.split(1e3 * patches.vertices, patches.starts[1:-1])
    means = np.add.reduceat(patches.vertex_pressure, patches.starts[:-1]) / np.diff(patches.starts)
    colors = matplotlib.colormaps["viridis"](norm(means))
    axes.add_collection3d(
        Poly3DCollection(
            faces, facecolors=colors, edgecolors=(0, 0, 0, 0.35), linewidths=0.3, zorder=2
        )
    )


def _add_shell(
    axes: Any, vertices: Vector, triangles: NDArray[np.int32], low: Vector, high: Vector
) -> None:
    """Adds those triangles of a shell that are within the box."""
    corners = vertices[triangles]
    inside = np.all((corners >= low) & (corners <= high), axis=(1, 2))
    axes.add_collection3d(
        Poly3DCollection(
            1e3 * corners[inside], facecolors=(0.4, 0.5, 0.6, 0.07),
            edgecolors=(0.3, 0.4, 0.5, 0.10), linewidths=0.3, zorder=1,
        )
    )  # fmt: skip


def _list_shells(
    film: Film, surfaces: ContactSurfaces, frame: Frame
) -> Iterator[tuple[Vector, NDArray[np.int32]]]:
    """Yields the vertices in the world and the triangles of the surface of each field."""
    data = mujoco.MjData(film.model)
    mujoco.mj_setState(film.model, data, frame.start, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_kinematics(film.model, data)
    for geom in range(film.model.ngeom):
        field = surfaces.find_field(geom)
        if field is not None:
            R = data.geom_xmat[geom].reshape(3, 3)
            yield field.vertices @ R.T + data.geom_xpos[geom], find_surface(field)


def find_surface(mesh: TetMesh) -> NDArray[np.int32]:
    """Returns the triangles that belong to one tetrahedron only, (n, 3)."""
    faces = mesh.tets[:, [(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)]].reshape(-1, 3)
    _, first, counts = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    return np.asarray(faces[first[counts == 1]])


def _find_box(patches: PatchArrays, margin: float) -> tuple[Vector, Vector]:
    """Returns the corners of a box around patches [m]."""
    if not patches.num_faces:
        return np.full(3, -0.1), np.full(3, 0.1)
    low, high = patches.vertices.min(axis=0), patches.vertices.max(axis=0)
    space = margin * float((high - low).max())
    return low - space, high + space


def _set_box(axes: Any, low: Vector, high: Vector) -> None:
    axes.set(xlim=1e3 * np.array([low[0], high[0]]), ylim=1e3 * np.array([low[1], high[1]]))
    axes.set_zlim(*(1e3 * np.array([low[2], high[2]])))
    axes.set_box_aspect(high - low)
    axes.set(xlabel="x [mm]", ylabel="y [mm]")
    axes.set_zlabel("z [mm]")
    axes.locator_params(nbins=4)
