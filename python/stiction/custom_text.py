"""Texts of a scene's <custom> element that Stiction reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco

from stiction.errors import Error
from stiction.names import suggest_name

if TYPE_CHECKING:
    from stiction.scene import Scene  # which reads texts itself

PROPERTIES = "stiction"  # the file of contact properties; see properties
CONTROLS = "stiction_controls"  # names of keyframes; see control_schedule
HELD = "stiction_held"  # a body; see compare.held_body

_NAMES = (CONTROLS, HELD)


def find_text(scene: Scene, name: str) -> str | None:
    """The data of <text name=...>, or None.

    Raises:
        Error: a text whose name begins with 'stiction_' but is none that is read, so that a
            misspelt one does not pass for absent.
    """
    model = scene.model
    for i in range(model.ntext):
        text = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TEXT, i) or ""
        if text.startswith("stiction_") and text not in _NAMES:
            raise Error(
                "unknown_name",
                f"{scene.path}: <text name='{text}'>",
                f"is nothing that Stiction reads {suggest_name(text, _NAMES)}",
            )
    return read_text(model, name)


def read_text(model: mujoco.MjModel, name: str) -> str | None:
    """The data of <text name=...>, or None."""
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TEXT, name)
    if index < 0:
        return None
    begin = model.text_adr[index]
    # The size counts the final zero of a C string.
    return bytes(model.text_data[begin : begin + model.text_size[index] - 1]).decode(
        errors="replace"
    )
