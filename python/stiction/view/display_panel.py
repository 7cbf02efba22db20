"""Controls of the page: patches, arrows, points, the opacity of geoms, and the scale of pressures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stiction.view.gui_events import on_user
from stiction.view.legend import PressureScale
from stiction.view.palette import Style

_PATCH_PARTS = (("patches", "Patches"), ("traction", "Traction"), ("slip", "Slip"))
_POINT_PARTS = (("points", "Contact points"), ("forces", "Point forces"))


class DisplayPanel:
    """The choice of what is shown, which changes the style and redraws."""

    def __init__(
        self,
        server: Any,
        style: Style,
        scale: PressureScale,
        has_patches: bool,
        redraw: Callable[[], None],
    ) -> None:
        self._style, self._scale, self._redraw = style, scale, redraw
        gui = server.gui
        for part, label in (*(_PATCH_PARTS if has_patches else ()), *_POINT_PARTS):
            box = gui.add_checkbox(label, initial_value=getattr(style, part))
            self._connect(box, part)
        if not has_patches:
            return
        opacity = gui.add_slider(
            "Opacity", min=0.0, max=1.0, step=0.05, initial_value=style.opacity,
            hint="Of geoms with pressure fields. A contact patch lies inside them.",
        )  # fmt: skip
        self._connect(opacity, "opacity")
        top = gui.add_text(
            "Scale [Pa]",
            initial_value="auto" if scale.fixed is None else f"{scale.fixed:g}",
            hint="Pressure of the last color: a number, or auto.",
        )
        on_user(top.on_update, lambda event: self._set_scale(event.target.value))

    def _connect(self, handle: Any, part: str) -> None:
        def change(event: Any) -> None:
            setattr(self._style, part, event.target.value)
            self._redraw()

        on_user(handle.on_update, change)

    def _set_scale(self, text: str) -> None:
        try:
            value = float(text)
        except ValueError:
            value = 0.0  # automatic, also while a number is being typed
        self._scale.fixed = value if 0 < value < float("inf") else None
        self._scale.forget()
        self._redraw()
