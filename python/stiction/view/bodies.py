"""The geoms of a model, drawn by mjviser below a node of the page's scene."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from typing import Any

import mujoco
import numpy as np

from stiction.view.colored_mesh import make_matte, make_translucent

_SHADE = 0.6  # by which the darkest place of a translucent body is darker than the brightest
_NO_SHADOWS = {"cast_shadow": False, "receive_shadow": False}


class Bodies:
    """The geoms of a copy of a model, below the node `parent`; those with fields can be translucent.

    Planes are drawn as squares of a size [m] below a center, (3,) [m].
    """

    def __init__(
        self,
        server: Any,
        parent: str,
        model: mujoco.MjModel,
        soft_geoms: Collection[int],
        plane_size: float,
        center: Any,
    ) -> None:
        from mjviser import ViserMujocoScene

        # mjviser changes the model's settings of visualization.
        self._model = copy.copy(model)
        self._data = mujoco.MjData(self._model)
        self._soft = np.array(sorted(soft_geoms), int)
        self._rgba = _find_colors(model, self._soft)
        self._opacity = 1.0
        self._model.geom_rgba[self._soft] = self._rgba
        self._model.geom_matid[self._soft] = -1  # so that geom_rgba counts
        part: Any = _Part(server, parent, plane_size, center)
        self._scene = ViserMujocoScene(part, self._model, 1)
        self._scene.camera_tracking_enabled = False

    @property
    def data(self) -> mujoco.MjData:
        """The poses of the last call of show."""
        return self._data

    def show(self, state: Any) -> None:
        """Moves the bodies to a state, which has the components of mjSTATE_INTEGRATION."""
        mujoco.mj_setState(
            self._model, self._data, np.asarray(state), mujoco.mjtState.mjSTATE_INTEGRATION
        )
        mujoco.mj_kinematics(self._model, self._data)
        self._scene.update_from_mjdata(self._data)

    def set_opacity(self, opacity: float) -> bool:
        """Makes geoms with pressure fields translucent; 0 hides them. True if nodes were made anew."""
        if opacity == self._opacity:
            return False
        self._opacity = opacity
        self._model.geom_rgba[self._soft, 3] = opacity * self._rgba[:, 3]
        self._scene.rebuild_visual_handles()
        return True

    def to_body(self, body: int, point: Any) -> Any:
        """Returns a point of the world in the frame of a body, (3,) [m]."""
        return self._data.xmat[body].reshape(3, 3).T @ (np.asarray(point) - self._data.xpos[body])

    def list_handles(self) -> Iterator[tuple[Any, list[int]]]:
        """Yields the nodes of bodies that move, with the id of the body of each instance."""
        for group in self._scene._mesh_groups:
            yield group.handle, group.body_ids.tolist()


def _find_colors(model: mujoco.MjModel, geoms: Any) -> Any:
    """Returns the colors of geoms, where a material replaces the geom's own, (n, 4)."""
    material = model.geom_matid[geoms]
    rgba = model.geom_rgba[geoms].copy()
    has_material = material >= 0
    rgba[has_material] = model.mat_rgba[material[has_material]]
    return rgba


class _Part:
    """A server whose nodes have names below a parent, so that one page holds several scenes."""

    def __init__(self, server: Any, parent: str, plane_size: float, center: Any) -> None:
        self._server = server
        self.scene = _PartOfScene(server.scene, parent, plane_size, center)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)


class _PartOfScene:
    """The functions of viser's scene that add nodes, with names below a parent."""

    def __init__(self, scene: Any, parent: str, plane_size: float, center: Any) -> None:
        self._scene = scene
        self._parent = parent
        self._plane_size = plane_size
        self._center = center

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._scene, name)
        if not name.startswith("add_"):
            return function
        return lambda node, *arguments, **options: function(
            self._parent + node, *arguments, **options
        )

    def configure_environment_map(self, **options: Any) -> None:
        """Does nothing. set_stage lights the scene, for a small part of an environment's cost."""

    def add_mesh_trimesh(self, node: str, mesh: Any, **options: Any) -> Any:
        """Draws a mesh that does not move."""
        options |= _NO_SHADOWS
        return self._scene.add_glb(self._parent + node, _export(mesh), **options)

    def add_batched_meshes_trimesh(self, node: str, mesh: Any, **options: Any) -> Any:
        """Draws copies of a mesh that move."""
        options |= _NO_SHADOWS
        return self._scene.add_batched_glb(self._parent + node, _export(mesh), **options)

    def add_grid(self, node: str, **options: Any) -> Any:
        """Draws the part of a plane below the center, a little lower, so that it hides no patch."""
        size = self._plane_size
        normal = np.empty(3)
        mujoco.mju_rotVecQuat(normal, np.array([0.0, 0, 1]), np.asarray(options["wxyz"]))
        height = normal @ (np.asarray(options["position"]) - self._center)
        options["position"] = self._center + (height - 1e-3 * size) * normal
        options |= {"infinite_grid": False, "width": size, "height": size}
        options |= {"shadow_opacity": 0.0, "cell_size": size / 20, "section_size": size / 4}
        return self._scene.add_grid(self._parent + node, **options)


def _export(mesh: Any) -> bytes:
    """Returns a mesh of trimesh as GLB. It is drawn translucent where its colors are.

    Without a GPU, lights on translucent bodies would take a third of the browser's time. So these bodies
    have no lights, and colors that are shaded here.
    """
    colors = getattr(mesh.visual, "vertex_colors", None)
    if colors is None or np.min(np.asarray(colors)[:, 3]) == 255:
        return make_matte(mesh.export(file_type="glb"))
    shaded = mesh.copy()
    shaded.visual.vertex_colors = shade(np.asarray(colors), mesh.vertex_normals)
    return make_translucent(shaded.export(file_type="glb"))


def shade(colors: Any, normals: Any) -> Any:
    """Returns RGBA colors in 0..255, (n, 4), darker where unit normals, (n, 3), point downwards."""
    shares = 1 - 0.5 * _SHADE * (1 - normals[:, 2:])
    return np.hstack([np.rint(colors[:, :3] * shares), colors[:, 3:]]).astype(np.uint8)
