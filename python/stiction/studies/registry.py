"""The studies by name.

A study is the object STUDY in the module stiction.studies.<name>.study. The module loads
matplotlib, which is slow, so it is imported only when the study is used.
"""

from __future__ import annotations

import importlib

from stiction.errors import Error
from stiction.names import suggest_name
from stiction.studies.study import Study

STUDIES = (
    "conveyor",
    "falling_sphere",
    "sliding_rod",
    "clutter",
    "disk",
    "spatula",
    "gripper",
    "pancake",
    "grasp",
    "quadruped",
)


def load_study(name: str) -> Study:
    """Imports a study and returns it.

    Raises:
        Error: there is no study of this name; the message suggests the nearest name.
    """
    if name not in STUDIES:
        raise Error("unknown_name", "study", f"there is no '{name}' {suggest_name(name, STUDIES)}")
    study: Study = importlib.import_module(f"stiction.studies.{name}.study").STUDY
    return study
