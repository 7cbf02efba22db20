"""Geoms and patches as primitives of Foxglove's 3D panel. `fox` is the module foxglove.messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.recording.format import Vector
from stiction.tables.triangulation import triangulate_polygons

if TYPE_CHECKING:
    from stiction._core import PatchReport
    from stiction.recording.records import RecordedPatch

_COLORMAP = "viridis"
ENTITY = "contact patches"
_LARGEST_PLANE = 10.0  # length of the sides of a plane that MuJoCo draws without end [m]
_Geom = mujoco.mjtGeom


def make_geoms(fox: Any, model: mujoco.MjModel, frames: list[str]) -> Any:
    """Returns a SceneUpdate with one entity for each body with visible geoms, in the body's frame."""
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


@dataclass
class PatchMesh:
    """The faces of all patches of a step."""

    vertices: Vector  # [m], world, (k, 3)
    pressure: Vector  # at the vertices [Pa], (k,)
    starts: NDArray[
        np.int32
    ]  # of each face in `vertices`, and their number at the end, (faces + 1,)

    def triangles(self) -> NDArray[np.int64]:
        """Returns a fan of triangles for each face, as indices of vertices, (n, 3)."""
        return triangulate_polygons(self.starts)


def join_report(patches: PatchReport) -> PatchMesh:
    """Returns the faces of a report's patches."""
    return PatchMesh(patches.vertices, patches.vertex_pressure, patches.vertex_start)


def join_recorded(patches: Sequence[RecordedPatch]) -> PatchMesh:
    """Returns the faces of recorded patches."""
    vertices = [patch.vertices["vertices"] for patch in patches]
    pressures = [patch.vertices["vertex_pressure"] for patch in patches]
    counts = [patch.faces["num_vertices"] for patch in patches]
    starts = np.concatenate([[0], *map(np.asarray, counts)]).cumsum().astype(np.int32)
    return PatchMesh(
        np.concatenate([np.zeros((0, 3)), *vertices]),
        np.concatenate([np.zeros(0), *pressures]),
        starts,
    )


def make_patches(fox: Any, time_ns: int, mesh: PatchMesh, scale: float) -> Any:
    """Returns a SceneUpdate that replaces the patches before; scale [Pa] has the brightest color."""
    share = np.clip(mesh.pressure / scale, 0, 1) if scale > 0 else np.zeros_like(mesh.pressure)
    colors = matplotlib.colormaps[_COLORMAP](share)
    triangles = fox.TriangleListPrimitive(
        points=[fox.Point3(x=x, y=y, z=z) for x, y, z in mesh.vertices.astype(float).tolist()],
        colors=[fox.Color(r=r, g=g, b=b, a=a) for r, g, b, a in colors.tolist()],
        indices=mesh.triangles().ravel().tolist(),
    )
    notes = [fox.KeyValuePair(key="pressure of the brightest color [Pa]", value=f"{scale:.6g}")]
    entity = fox.SceneEntity(
        timestamp=fox.Timestamp(sec=time_ns // 10**9, nsec=time_ns % 10**9),
        frame_id="world",
        id=ENTITY,
        metadata=notes,
        triangles=[triangles],
    )
    return fox.SceneUpdate(entities=[entity])
