"""The texts in a scene's <custom> element that Stiction reads."""

from __future__ import annotations

from pathlib import Path

import mujoco

from stiction.errors import Error
from stiction.inputs.names import suggest_name

PROPERTIES = "stiction"  # path of the contact properties; see properties.py
CONTROLS = "stiction_controls"  # names of keyframes; see control_schedule.py
HELD = "stiction_held"  # name of a held body; see experiments/held_body.py

_NAMES = (CONTROLS, HELD)


def find_text(model: mujoco.MjModel, path: Path, name: str) -> str | None:
    """Returns the data of <text name=...>, or None. Error: a name with 'stiction_' is unknown."""
    for i in range(model.ntext):
        text = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TEXT, i) or ""
        if text.startswith("stiction_") and text not in _NAMES:
            raise Error(
                "unknown_name",
                f"{path}: <text name='{text}'>",
                f"has a name that Stiction does not know {suggest_name(text, _NAMES)}",
            )
    return read_text(model, name)


def read_text(model: mujoco.MjModel, name: str) -> str | None:
    """Returns the data of <text name=...>, or None if there is no such text."""
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TEXT, name)
    if index < 0:
        return None
    begin = model.text_adr[index]
    # The size includes the final zero of a C string.
    return bytes(model.text_data[begin : begin + model.text_size[index] - 1]).decode(
        errors="replace"
    )
