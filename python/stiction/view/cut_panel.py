"""The choice of a cut through the tetrahedra of a geom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import mujoco

from stiction.view.gui_events import on_user
from stiction.view.style import Style

_NONE = "none"


class CutPanel:
    """The choice of the cut, made in the current container of the page.

    Args:
        server: the viser.ViserServer.
        style: what is shown; the panel changes it.
        model: the model.
        geoms: ids of geoms with pressure fields over tetrahedra.
        redraw: called after a change.
    """

    def __init__(
        self,
        server: Any,
        style: Style,
        model: mujoco.MjModel,
        geoms: Iterable[int],
        redraw: Callable[[], None],
    ) -> None:
        ids = {model.geom(geom).name or f"#{geom}": geom for geom in geoms}
        gui = server.gui
        geom = gui.add_dropdown("Geom", (_NONE, *ids), initial_value=_NONE)
        axis = gui.add_dropdown("Normal", ("x", "y", "z"), initial_value="x")
        place = gui.add_slider("Place", min=-1.0, max=1.0, step=0.02, initial_value=0.0)

        def change(_: Any) -> None:
            style.cut_geom = ids.get(geom.value)
            style.cut_axis = "xyz".index(axis.value)
            style.cut_place = place.value
            redraw()

        for handle in (geom, axis, place):
            on_user(handle.on_update, change)
