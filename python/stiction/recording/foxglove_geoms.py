"""The geoms of a scene as primitives of Foxglove's 3D panel."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from stiction.recording.format import Vector

_LARGEST_PLANE = 10.0  # length of the sides of a plane that MuJoCo draws without end [m]
_Geom = mujoco.mjtGeom


def make_geoms(fox: Any, model: mujoco.MjModel, frames: list[str]) -> Any:
    """Returns a SceneUpdate with one entity for each body with visible geoms, fixed to the body's frame.

    Args:
        fox: the module foxglove.messages.
        model: the scene.
        frames: name of the frame of each body.
    """
    by_body: dict[int, list[int]] = {}
    for geom in np.flatnonzero(model.geom_rgba[:, 3] > 0):
        by_body.setdefault(int(model.geom_bodyid[geom]), []).append(int(geom))
    entities = [
        fox.SceneEntity(
            timestamp=fox.Timestamp(sec=0, nsec=0),
            frame_id=frames[body],
            frame_locked=True,
            id=f"geoms of {frames[body]}",
            **_collect([_make_geom(fox, model, geom) for geom in geoms]),
        )
        for body, geoms in by_body.items()
    ]
    return fox.SceneUpdate(entities=entities)


def _collect(parts: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """Joins the lists of primitives of each kind."""
    lists: dict[str, list[Any]] = {}
    for part in parts:
        for kind, primitives in part.items():
            lists.setdefault(kind, []).extend(primitives)
    return lists


def _make_geom(fox: Any, model: mujoco.MjModel, geom: int) -> dict[str, list[Any]]:
    """Returns the primitives of a geom by kind; a shape that Foxglove does not have is left out."""
    size = model.geom_size[geom]
    color = _find_color(fox, model, geom)
    pose = make_pose(fox, model.geom_pos[geom], model.geom_quat[geom])

    def cube(x: float, y: float, z: float) -> dict[str, list[Any]]:
        return {
            "cubes": [fox.CubePrimitive(pose=pose, size=make_vector(fox, (x, y, z)), color=color)]
        }

    def sphere(where: Any, radii: Any) -> Any:
        return fox.SpherePrimitive(
            pose=where, size=make_vector(fox, 2 * np.asarray(radii)), color=color
        )

    def cylinder() -> Any:
        extents = make_vector(fox, (2 * size[0], 2 * size[0], 2 * size[1]))
        return fox.CylinderPrimitive(
            pose=pose, size=extents, bottom_scale=1.0, top_scale=1.0, color=color
        )

    match model.geom_type[geom]:
        case _Geom.mjGEOM_PLANE:
            x, y = (2 * s if s > 0 else _LARGEST_PLANE for s in size[:2])
            return cube(x, y, 1e-3)
        case _Geom.mjGEOM_BOX:
            return cube(*(2 * size))
        case _Geom.mjGEOM_SPHERE:
            return {"spheres": [sphere(pose, [size[0]] * 3)]}
        case _Geom.mjGEOM_ELLIPSOID:
            return {"spheres": [sphere(pose, size)]}
        case _Geom.mjGEOM_CYLINDER:
            return {"cylinders": [cylinder()]}
        case _Geom.mjGEOM_CAPSULE:
            ends = [_shift(model, geom, sign * size[1]) for sign in (-1, 1)]
            caps = [
                sphere(make_pose(fox, end, model.geom_quat[geom]), [size[0]] * 3) for end in ends
            ]
            return {"cylinders": [cylinder()], "spheres": caps}
        case _Geom.mjGEOM_MESH:
            return {"triangles": [_make_mesh(fox, model, geom, pose, color)]}
    return {}


def _shift(model: mujoco.MjModel, geom: int, z: float) -> Vector:
    """Returns the place at a height z of the geom's axis, in the frame of its body."""
    axis = np.empty(3)
    mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), model.geom_quat[geom])
    return np.asarray(model.geom_pos[geom] + z * axis)


def _make_mesh(fox: Any, model: mujoco.MjModel, geom: int, pose: Any, color: Any) -> Any:
    mesh = model.mesh(int(model.geom_dataid[geom]))
    vertex, face = int(mesh.vertadr[0]), int(mesh.faceadr[0])
    vertices = model.mesh_vert[vertex : vertex + int(mesh.vertnum[0])]
    faces = model.mesh_face[face : face + int(mesh.facenum[0])]
    points = [_point(fox, v) for v in vertices]
    return fox.TriangleListPrimitive(
        pose=pose, points=points, indices=faces.ravel().tolist(), color=color
    )


def _find_color(fox: Any, model: mujoco.MjModel, geom: int) -> Any:
    material = int(model.geom_matid[geom])
    rgba = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
    return fox.Color(**dict(zip("rgba", map(float, rgba), strict=True)))


def make_pose(fox: Any, position: Any, quat: Any) -> Any:
    """Returns a foxglove.Pose from a position and MuJoCo's quaternion."""
    return fox.Pose(position=make_vector(fox, position), orientation=make_quaternion(fox, quat))


def make_quaternion(fox: Any, quat: Any) -> Any:
    """Returns a foxglove.Quaternion from MuJoCo's quaternion."""
    w, x, y, z = map(float, quat)
    return fox.Quaternion(x=x, y=y, z=z, w=w)


def make_vector(fox: Any, v: Any) -> Any:
    """Returns a foxglove.Vector3."""
    return fox.Vector3(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def _point(fox: Any, v: Any) -> Any:
    return fox.Point3(x=float(v[0]), y=float(v[1]), z=float(v[2]))
