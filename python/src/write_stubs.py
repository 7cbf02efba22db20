"""Writes the types of _core, and the TypedDict of Simulator's options, for type checkers.

    python write_stubs.py FOLDER_OF_CORE OUTPUT_FOLDER [LIBRARY...]

The build runs this on the module that it has just built. The libraries are loaded first, because the
module depends on libraries that only the running process knows.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from nanobind import stubgen

TYPES = {"number": "float", "integer": "int", "flag": "bool"}
# Laws may be tables too.
LAWS = {"normal_law": "NormalLaw", "friction_law": "FrictionLaw"}
HEADER = """from collections.abc import Mapping
from typing import Any, TypedDict

from stiction.laws import FrictionLaw, NormalLaw

class StepOptions(TypedDict, total=False):"""


def write_step_options(output: Path) -> None:
    import _core

    lines = [HEADER]
    for option in _core.list_options():
        if option["name"] == "contact_model":  # an argument that may be given by its place
            continue
        name = TYPES.get(option["kind"], "str")
        if law := LAWS.get(option["name"]):
            name = f"str | {law} | Mapping[str, Any]"
        optional = " | None" if option["is_optional"] else ""
        lines.append(f"    {option['name']}: {name}{optional}")
    output.write_text("\n".join(lines) + "\n")


def main(folder: str, output: str, *libraries: str) -> None:
    for library in libraries:
        ctypes.CDLL(library)
    sys.path.insert(0, folder)
    core = Path(output) / "_core.pyi"
    stubgen.main(["-q", "-m", "_core", "-o", str(core)])
    write_step_options(Path(output) / "_step_options.pyi")


if __name__ == "__main__":
    main(*sys.argv[1:])
