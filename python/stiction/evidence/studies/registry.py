"""The studies by name.

A study is the object STUDY in the module stiction.evidence.studies.<name>.study; every folder with such a
module is listed. The module loads matplotlib, which is slow, so it is imported only when the study
is used.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from stiction.errors import Error
from stiction.evidence.studies.study import Study
from stiction.inputs.suggestions import suggest_name

STUDIES = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/study.py")))


def load_study(name: str) -> Study:
    """Imports a study and returns it.

    Raises:
        Error: there is no study of this name; the message suggests the nearest name.
    """
    if name not in STUDIES:
        raise Error("unknown_name", "study", f"there is no '{name}' {suggest_name(name, STUDIES)}")
    study: Study = importlib.import_module(f"stiction.evidence.studies.{name}.study").STUDY
    return study
