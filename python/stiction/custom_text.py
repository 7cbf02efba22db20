"""Texts of a scene's <custom> element that Stiction reads."""

from __future__ import annotations

import mujoco

from stiction.errors import Error
from stiction.names import suggest_name
from stiction.scene import Scene

CONTROLS = "stiction_controls"  # names of keyframes; see control_schedule
HELD = "stiction_held"  # a body; see compare.grasp

_NAMES = (CONTROLS, HELD)


def find_text(scene: Scene, name: str) -> str | None:
    """The data of <text name=...>, or None.

    Raises:
        Error: a text whose name begins with 'stiction_' but is none that is read, so that a
            misspelt one does not pass for absent.
    """
    model = scene.model
    found = None
    for i in range(model.ntext):
        text = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TEXT, i) or ""
        if text.startswith("stiction_") and text not in _NAMES:
            raise Error(
                "unknown_name",
                f"{scene.path}: <text name='{text}'>",
                f"is nothing that Stiction reads {suggest_name(text, _NAMES)}",
            )
        if text == name:
            start = model.text_adr[i]
            # The size counts the final zero of a C string.
            data = bytes(model.text_data[start : start + model.text_size[i]])
            found = data.rstrip(b"\0").decode(errors="replace")
    return found
