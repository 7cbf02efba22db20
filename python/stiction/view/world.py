"""One scene on the page: bodies, patches, contact points, arrows, and the cut through a field."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import mujoco

from stiction.meshing.tet_mesh import TetMesh
from stiction.setup.properties import PropertiesLike
from stiction.surfaces import ContactSurfaces
from stiction.view.arrows import (
    ARROW_KINDS,
    ArrowCount,
    draw_discs,
    make_force_arrows,
    make_slip_arrows,
    make_traction_arrows,
)
from stiction.view.bodies import Bodies
from stiction.view.contact_arrays import PatchArrays, PointArrays
from stiction.view.cut import Cut, draw_patches, find_largest_pressure
from stiction.view.frame import Frame
from stiction.view.layers import ArrowLayer, MeshLayer
from stiction.view.layout import Layout
from stiction.view.legend import PressureScale
from stiction.view.palette import Style, to_bytes

_ARROW = 0.2  # length of the longest arrow, as a share of the scene's size
_PLANE = 0.69  # width of a plane, as a share of the distance of two scenes: no corners meet
_DISC = 0.012  # radius of a disc, as a share of the scene's size


class Subject(Protocol):
    """The parts of a scene: a name, a model, and contact properties of its geoms."""

    name: str
    model: mujoco.MjModel
    properties: PropertiesLike


class _Prepared(NamedTuple):
    """A frame that was sent ahead, with its contacts."""

    frame: Frame
    patches: PatchArrays
    points: PointArrays


class World:
    """One scene on the page, at a place in the row; `arrow_counts` has the shown arrows by kind."""

    def __init__(
        self,
        server: Any,
        subject: Subject,
        index: int,
        layout: Layout,
        make_layer: Callable[[Any, str], MeshLayer],
    ) -> None:
        self.name = f"/scene{index}"
        self.on_new_nodes: Callable[[], None] = lambda: None  # called if nodes of bodies are new
        self._server = server
        self._size = layout.size
        self.offset = layout.offsets[index]
        server.scene.add_frame(self.name, show_axes=False, position=self.offset)
        self._label = server.scene.add_label(
            f"{self.name}/label", subject.name, position=layout.label, anchor="top-center"
        )
        self.fields, self.soft_geoms = _find_fields(subject)
        self.bodies = Bodies(
            server,
            self.name,
            subject.model,
            self.soft_geoms,
            plane_size=_PLANE * layout.spacing,
            center=layout.look_at,
        )
        self._cut = Cut(server, f"{self.name}/cut", self.fields)
        self._patches = make_layer(server, f"{self.name}/patches")
        self._points = make_layer(server, f"{self.name}/points")
        self._arrows = {
            name: ArrowLayer(
                server, f"{self.name}/{name}", to_bytes(kind.color), 0.003 * layout.size
            )
            for name, kind in ARROW_KINDS.items()
        }
        self.arrow_counts: dict[str, ArrowCount] = {}
        self._ahead: deque[_Prepared] = deque()

    def prepare(self, frame: Frame, style: Style, scale: PressureScale) -> None:
        """Sends the meshes of a later frame ahead, hidden."""
        patches, points = frame.read()
        scale.include(find_largest_pressure(patches))
        self._patches.prepare(draw_patches(patches, scale.top) if style.patches else None)
        self._points.prepare(draw_discs(points, _DISC * self._size) if style.points else None)
        self._ahead.append(_Prepared(frame, patches, points))

    def reveal(self, label: str, style: Style) -> None:
        """Shows the next of the frames that were sent ahead, below a label."""
        frame, patches, points = self._ahead.popleft()
        if self._label.text != label:
            self._label.text = label
        if self.bodies.set_opacity(style.opacity):
            self.on_new_nodes()
        self.bodies.show(frame.start)
        self._patches.reveal()
        self._points.reveal()
        self._show_arrows(patches, points, style)
        self._cut.show(style, self.bodies.data)

    @property
    def cut_top(self) -> float | None:
        """The value of the field that has the last color in the cut [Pa]; None without a cut."""
        return self._cut.top

    def _show_arrows(self, patches: PatchArrays, points: PointArrays, style: Style) -> None:
        length = _ARROW * self._size
        arrows = {}
        if style.traction:
            arrows["traction"] = make_traction_arrows(patches, length)
        if style.slip:
            arrows["slip"] = make_slip_arrows(patches, length)
        if style.forces:
            arrows["forces"] = make_force_arrows(points, length)
        for name, layer in self._arrows.items():
            layer.show(arrows[name].lines if name in arrows else None)
        self.arrow_counts = {name: each.count for name, each in arrows.items()}


def _find_fields(subject: Subject) -> tuple[dict[int, TetMesh], list[int]]:
    """Returns the meshes of the fields by geom, and all geoms that take part in patches."""
    if subject.properties is None:
        return {}, []
    surfaces = ContactSurfaces(subject.model, subject.properties)
    is_plane = subject.model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    geoms = [
        geom
        for geom in range(subject.model.ngeom)
        if surfaces.takes_part(geom) and not is_plane[geom]
    ]
    fields = {geom: mesh for geom in geoms if (mesh := surfaces.find_field(geom)) is not None}
    return fields, geoms
