"""Nodes of the page that change from frame to frame.

A browser needs a moment to read a mesh, and shows nothing meanwhile. So a mesh is sent ahead in a
hidden node, and then revealed together with the rest of its frame.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stiction.view.colored_mesh import ColoredMesh, to_glb


class MeshLayer(Protocol):
    """A colored mesh that changes from frame to frame."""

    def prepare(self, mesh: ColoredMesh | None) -> None:
        """Sends the mesh of a later frame ahead; None is a frame without one."""

    def reveal(self) -> None:
        """Shows the mesh of the next frame in place of the last one."""


class LiveMeshLayer:
    """A mesh layer of a live page. Two nodes take turns, so that one frame is sent ahead."""

    def __init__(self, server: Any, name: str) -> None:
        self._server = server
        self._name = name
        self._nodes: list[Any] = [None, None]
        self._shown = 0
        self._is_next_empty = True

    def prepare(self, mesh: ColoredMesh | None) -> None:
        """Sends the mesh of the next frame ahead; None is a frame without one."""
        self._is_next_empty = mesh is None or mesh.is_empty
        if mesh is None or self._is_next_empty:
            return
        other, data = 1 - self._shown, to_glb(mesh)
        if self._nodes[other] is None:
            self._nodes[other] = _add_hidden(self._server, f"{self._name}/{other}", data)
        else:
            self._nodes[other].glb_data = data

    def reveal(self) -> None:
        """Shows the mesh that was sent ahead."""
        _set_visible(self._nodes[self._shown], False)
        if not self._is_next_empty:
            self._shown = 1 - self._shown
            _set_visible(self._nodes[self._shown], True)


class FilmMeshLayer:
    """A mesh layer of a page in a file, with a node for each frame, because the page plays again."""

    def __init__(self, server: Any, name: str) -> None:
        self._server = server
        self._name = name
        self._count = 0
        self._ahead: deque[Any] = deque()
        self._shown: Any = None

    def prepare(self, mesh: ColoredMesh | None) -> None:
        """Sends the mesh of a later frame ahead; None is a frame without one."""
        if mesh is None or mesh.is_empty:
            self._ahead.append(None)
            return
        node = _add_hidden(self._server, f"{self._name}/{self._count}", to_glb(mesh))
        self._count += 1
        self._ahead.append(node)

    def reveal(self) -> None:
        """Shows the mesh of the next frame."""
        _set_visible(self._shown, False)
        self._shown = self._ahead.popleft()
        _set_visible(self._shown, True)


class ArrowLayer:
    """Arrows that change from frame to frame, with a color in 0..255 and a thickness [m]."""

    def __init__(
        self, server: Any, name: str, color: tuple[int, int, int], thickness: float
    ) -> None:
        self._server = server
        self._name = name
        self._color = np.array(color, np.uint8)
        self._thickness = thickness
        self._node: Any = None

    def show(self, arrows: NDArray[np.float64] | None) -> None:
        """Replaces the arrows, (n, 2, 3); None hides them."""
        is_empty = arrows is None or not len(arrows)
        if arrows is None or is_empty:
            _set_visible(self._node, False)
            return
        points = arrows.astype(np.float32)
        if self._node is None:
            self._node = self._server.scene.add_arrows(
                self._name,
                points,
                self._color,
                shaft_radius=self._thickness,
                head_radius=2.5 * self._thickness,
                head_length=6 * self._thickness,
            )
            return
        self._node.points = points
        _set_visible(self._node, True)


def _add_hidden(server: Any, name: str, data: bytes) -> Any:
    return server.scene.add_glb(name, data, cast_shadow=False, receive_shadow=False, visible=False)


def _set_visible(node: Any, visible: bool) -> None:
    """Shows or hides a node, if there is one and if that is a change."""
    if node is not None and node.visible != visible:
        node.visible = visible
