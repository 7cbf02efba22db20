#!/usr/bin/env python3
"""Fails if a folder of src/stiction includes what it must not.

    check_layers.py [SOURCE_ROOT]

Each folder may include itself and the folders before it. The folders of stiction_contact know no MuJoCo.

The certificate is independent of what it verifies. It stands before `laws` and `formulations`, so it
cannot include them, and they must not include it. The folders after these see its face alone, which
takes a solved step and returns a certificate: its kinematics and laws cannot become a part of the step.

Prints file:line for every fault; exit code 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

CONTACT_LAYERS = (
    "base",
    "math",
    "numerics",
    "geometry",
    "contact",
    "certificate",
    "laws",
    "formulations",
)
LAYERS = (*CONTACT_LAYERS, "plant", "sim", "io")
# What solves must not use what verifies, though it stands above it.
FORBIDDEN = {("formulations", "certificate"), ("laws", "certificate")}
# The headers of a folder that other folders may include; a folder that is not named here hides none.
FACES = {"certificate": ("certificate.hpp", "certificate_fields.hpp", "certifier.hpp")}
SUFFIXES = (".hpp", ".cpp")

_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def check_include(folder: str, header: str, is_local: bool) -> str | None:
    """What is wrong with an include of `header` by a file in `folder`; None if nothing.

    is_local: written in quotes, as our headers are.
    """
    if header.startswith("mujoco/") and folder in CONTACT_LAYERS:
        return f"{folder} is part of stiction_contact, which knows no MuJoCo"
    if not header.startswith("stiction/"):
        return f"write it as stiction/.../{header}" if is_local else None
    target = header.split("/")[1]
    if target not in LAYERS:
        return f"no folder '{target}' in tools/check_layers.py"
    if LAYERS.index(target) > LAYERS.index(folder):
        return f"{folder} must not include {target}, which is built on it"
    if (folder, target) in FORBIDDEN:
        return f"{folder} must not include {target}, which verifies its results"
    name = header.removeprefix(f"stiction/{target}/")
    if folder != target and name not in FACES.get(target, (name,)):
        return f"{name} is private to {target}, whose face is {', '.join(FACES[target])}"
    return None


def find_faults(root: Path) -> Iterator[str]:
    """Yields `file:line: fault` for the tree under root, which has a folder for each layer."""
    for path in sorted(p for p in root.rglob("*") if p.suffix in SUFFIXES):
        folder = path.relative_to(root).parts[0]
        if folder not in LAYERS:
            yield f"{path}:1: no layer has the folder '{folder}'; add it to tools/check_layers.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            match = _INCLUDE.match(line)
            fault = check_include(folder, match[2], match[1] == '"') if match else None
            if fault:
                yield f"{path}:{number}: {fault}"


def main() -> int:
    default = Path(__file__).resolve().parent.parent / "src" / "stiction"
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not root.is_dir():
        print(f"{root}: no such folder", file=sys.stderr)
        return 2
    faults = list(find_faults(root))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
