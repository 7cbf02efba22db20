"""Writes the TypedDict of Simulator's options, for type checkers, from the compiled table.

    python write_step_options.py FOLDER_OF_CORE OUTPUT

The build runs this on the module that it has just built, as it makes the stub of that module.
"""

from __future__ import annotations

import sys
from pathlib import Path

TYPES = {"number": "float", "integer": "int", "flag": "bool"}
# Laws may be tables too.
LAWS = {"normal_law": "NormalLaw", "friction_law": "FrictionLaw"}
HEADER = """from collections.abc import Mapping
from typing import Any, TypedDict

from stiction.laws import FrictionLaw, NormalLaw

class StepOptions(TypedDict, total=False):"""


def main(folder: str, output: str) -> None:
    sys.path.insert(0, folder)
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
    Path(output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
