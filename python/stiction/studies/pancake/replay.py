"""A 3D animation of a run with a time bar, in one HTML file.

It needs viser, which is an optional dependency: pip install 'stiction[replay]'.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

_TABLE = 1.0  # half side of the square that represents a plane [m]
_LOOKED_AT = (0.6, 0.05, 0.12)  # point that the camera looks at [m]
_SEEN_FROM = (1.3, -0.65, 0.6)  # position of the camera [m]


def can_replay() -> bool:
    """True if viser is installed."""
    return importlib.util.find_spec("viser") is not None


def make_replay(model: mujoco.MjModel, frames: Sequence[Any], frame_time: float) -> str:
    """Returns a self-contained HTML page with the animation.

    Args:
        model: the model whose geoms are drawn.
        frames: qpos of each frame, (nq,) each; at least one.
        frame_time: time between two frames [s].
    """
    import viser

    # viser prints a greeting, which would mix with the output of the study.
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        try:
            return _record(server, model, frames, frame_time)
        finally:
            server.stop()


def _record(server: Any, model: mujoco.MjModel, frames: Sequence[Any], frame_time: float) -> str:
    server.initial_camera.position = _SEEN_FROM
    server.initial_camera.look_at = _LOOKED_AT
    bodies = [server.scene.add_frame(f"/{i}", show_axes=False) for i in range(model.nbody)]
    for i in range(model.ngeom):
        _add_geom(server, model, i)
    return _play(server, bodies, model, frames, frame_time)


def _play(
    server: Any, bodies: list[Any], model: mujoco.MjModel, frames: Sequence[Any], frame_time: float
) -> str:
    data = mujoco.MjData(model)
    # The serializer writes only changes. Start from the last frame, because the animation repeats,
    # so that the last frame precedes the first.
    _put(bodies, model, data, frames[-1])
    recording = server.get_scene_serializer()
    for qpos in frames:
        _put(bodies, model, data, qpos)
        recording.insert_sleep(frame_time)
    page: str = recording.as_html()
    return page


def _put(bodies: list[Any], model: mujoco.MjModel, data: mujoco.MjData, qpos: Any) -> None:
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    for body, p, q in zip(bodies, data.xpos, data.xquat, strict=True):
        body.position, body.wxyz = p, q


def _add_geom(server: Any, model: mujoco.MjModel, geom: int) -> None:
    """Adds a geom as a child of its body's frame."""
    vertices, faces = _make_mesh(model, geom)
    material = int(model.geom_matid[geom])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
    server.scene.add_mesh_simple(
        f"/{model.geom_bodyid[geom]}/{geom}",
        vertices,
        faces,
        color=tuple(int(255 * c) for c in rgba[:3]),
        opacity=None if rgba[3] == 1 else float(rgba[3]),
        flat_shading=model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX,
        position=model.geom_pos[geom],
        wxyz=model.geom_quat[geom],
    )


def _make_mesh(model: mujoco.MjModel, geom: int) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Returns vertices in the geom's frame and faces, for the types of geoms in this scene."""
    import trimesh

    size, kind = model.geom_size[geom], model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        vertices = model.mesh_vert[first : first + count]
        first, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        return vertices.astype(np.float32), model.mesh_face[first : first + count].astype(np.uint32)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        shape = trimesh.creation.cylinder(size[0], 2 * size[1])
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        shape = trimesh.creation.icosphere(3).apply_scale(size)
    elif kind == mujoco.mjtGeom.mjGEOM_BOX:
        shape = trimesh.creation.box(2 * size)
    else:
        assert kind == mujoco.mjtGeom.mjGEOM_PLANE, kind
        shape = trimesh.creation.box((2 * _TABLE, 2 * _TABLE, 1e-3))
        shape.apply_translation((0, 0, -5e-4))
    return shape.vertices.astype(np.float32), shape.faces.astype(np.uint32)
