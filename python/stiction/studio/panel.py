"""Draws contacts and patches in Studio, and has a panel for model, parameters and bound."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from mujoco.studio import messages, plugin
from mujoco.studio.dear_imgui import dear_imgui as imgui

from stiction._core import contact_models
from stiction.setup.options import OPTIONS
from stiction.studio.drawing import Style, make_geoms
from stiction.studio.snapshots import PARAMETERS, ContactsSnapshot, SettingsSnapshot
from stiction.view.palette import color_pressures

_CONTACT_FLAGS = ("mjVIS_CONTACTPOINT", "mjVIS_CONTACTFORCE", "mjVIS_CONTACTSPLIT")
_SIZE = (370.0, 300.0)  # of the panel [pixel]
_MARGIN = 45.0  # below the panel, where Studio has its status line [pixel]
_FIELD_WIDTH = 150.0  # of an input [pixel]
_NUM_COLORS = 24  # of the scale of pressures
MAX_GEOMS = 2000  # that are drawn
_ARROW_LENGTHS = (0.1, 20.0)  # Style.arrow_length, smallest and largest


class StictionPanel(plugin.ViewerPlugin):  # type: ignore[misc]
    """Draws contacts and patches, and has a panel for model, parameters and bound."""

    def __init__(self) -> None:
        self._snapshot: ContactsSnapshot | None = None
        self._own: list[Any] = []  # the geoms in viewer.extra_geoms that are ours
        self._edited: dict[str, float] = {}  # parameters that the stepper has not yet taken
        self._num_missing = 0  # geoms that are too many to be drawn
        self._style = Style()

    @messages.handler  # type: ignore[untyped-decorator]
    def on_contacts(self, event: ContactsSnapshot) -> None:
        """Keeps what the stepper shows."""
        self._snapshot = event
        if event.message:
            self._edited = {}  # they were refused
        taken = event.parameters
        self._edited = {name: v for name, v in self._edited.items() if v != taken.get(name)}

    @messages.handler  # type: ignore[untyped-decorator]
    def on_post_model(self, _: messages.PostModelEvent) -> None:
        """Forgets the contacts of the last model. Bodies become transparent, as contacts lie in them."""
        self._snapshot, self._own, self._edited = None, [], {}
        self._style.scale.forget()
        self._set_flag("mjVIS_TRANSPARENT", True)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_update(self, _: messages.UpdateEvent) -> None:
        """Puts the geoms of the contacts in place of MuJoCo's."""
        for flag in _CONTACT_FLAGS:
            self._set_flag(flag, False)
        geoms = self.viewer.extra_geoms
        own = {id(geom) for geom in self._own}
        geoms[:] = [geom for geom in geoms if id(geom) not in own]
        self._own = []
        if self._snapshot is not None:
            made = make_geoms(self._snapshot, self.viewer.model, self._style)
            self._own, self._num_missing = made[:MAX_GEOMS], len(made[MAX_GEOMS:])
            geoms.extend(self._own)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_build_gui(self, _: messages.BuildGuiEvent) -> None:
        """Builds the panel, and sends what was changed in it."""
        first = int(imgui.Cond.FirstUseEver)
        # The lower left corner is below Studio's options.
        below = float(imgui.GetIO().DisplaySize.y) - _SIZE[1] - _MARGIN
        imgui.SetNextWindowPos(imgui.Vec2(0.0, max(below, 0.0)), first)
        imgui.SetNextWindowSize(imgui.Vec2(*_SIZE), first)
        imgui.Begin("Stiction")
        imgui.PushItemWidth(_FIELD_WIDTH)
        if self._snapshot is None:
            imgui.TextUnformatted("no step yet")
        else:
            self._build_settings(self._snapshot)
            self._build_style(self._snapshot)
            for line in (*self._snapshot.figures, *self._describe_missing()):
                imgui.TextUnformatted(line)
            if self._snapshot.message:
                imgui.TextWrapped(self._snapshot.message)
        imgui.PopItemWidth()
        imgui.End()

    def _build_settings(self, shown: ContactsSnapshot) -> None:
        """Builds the inputs of model and parameters, and sends what was changed."""
        names = list(contact_models())
        changed, index = imgui.Combo("contact model", names.index(shown.contact_model), names)
        for name in PARAMETERS:
            readers = OPTIONS[name].contact_models
            if shown.contact_model not in readers or name not in shown.parameters:
                continue
            value = self._edited.get(name, shown.parameters[name])
            edited, value = imgui.InputDouble(name, value, 0.0, 0.0, "%.3g")
            if edited:
                self._edited[name], changed = value, True
        if changed:
            self.viewer.send_to_sim(SettingsSnapshot(names[index], dict(self._edited)))

    def _build_style(self, shown: ContactsSnapshot) -> None:
        """Builds the inputs of what is drawn, and the scale of pressures."""
        style = self._style
        changed, sees_through = imgui.Checkbox(
            "transparent bodies", self._has_flag("mjVIS_TRANSPARENT")
        )
        if changed:
            self._set_flag("mjVIS_TRANSPARENT", sees_through)
        _, style.forces = imgui.Checkbox("forces", style.forces)
        if style.forces:
            imgui.SameLine()
            logarithmic = int(imgui.SliderFlags.Logarithmic)
            _, style.arrow_length = imgui.SliderFloat(
                "length", style.arrow_length, *_ARROW_LENGTHS, "%.1f", logarithmic
            )
        if len(shown.pressure):
            self._build_scale()

    def _build_scale(self) -> None:
        """Builds the colors of pressures from 0 to the largest one that was seen."""
        top = self._style.scale.top
        imgui.TextUnformatted("0")
        flags, size = int(imgui.ColorEditFlags.NoBorder), imgui.Vec2(9.0, 14.0)
        for i, color in enumerate(color_pressures(np.linspace(0, 1, _NUM_COLORS), 1.0).tolist()):
            imgui.SameLine(0.0, 0.0 if i else -1.0)
            imgui.ColorButton(f"##pressure{i}", imgui.Vec4(*color, 1.0), flags, size)
        imgui.SameLine()
        imgui.TextUnformatted(f"{top:g} Pa")

    def _describe_missing(self) -> list[str]:
        """Returns a line if there is more to draw than fits."""
        total = len(self._own) + self._num_missing
        return [f"{len(self._own)} of {total} shapes are drawn"] if self._num_missing else []

    def _has_flag(self, name: str) -> bool:
        return bool(self.viewer.vis_options.flags[int(getattr(mujoco.mjtVisFlag, name))])

    def _set_flag(self, name: str, value: bool) -> None:
        self.viewer.vis_options.flags[int(getattr(mujoco.mjtVisFlag, name))] = int(value)
