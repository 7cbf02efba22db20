#!/usr/bin/env python3
"""Fails if code in src/stiction or python/stiction uses a layer above its own.

    check_layers.py [SOURCE_ROOT...]

C++: each folder may include itself and the folders before it, and so may the folders inside `plant` and
`sim`. The folders of stiction_contact do not include MuJoCo. The certificate is independent of the code
that it checks: it stands before `laws` and `formulations`, so it cannot include them, and they must not
include it. The folders after these may include only its public headers, so that its kinematics and laws
cannot become part of the step.

Python: each part of the package, a module or a folder, may import itself and the parts on the lines
before its own. No modules import each other in a circle. Imports in functions and imports that only
serve types count as well.

Prints file:line for every fault; exit code 1 if there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
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
# The folders inside a folder, the lowest first; "" is its own files.
FOLDERS_INSIDE = {
    "plant": (
        "mujoco",
        "model",
        "shapes",
        "materials",
        "mocap",
        "forces",
        "rows",
        "repairs",
        "collision",
        "patches",
        "solution",
    ),
    "sim": (
        "options",
        "report",
        "memory",
        "sleep",
        "step",
        "warnings",
        "integrators",
        "advance",
        "",
        "batch",
    ),
}
# These stand above the certificate but must not use it, because it verifies their results.
FORBIDDEN = {("formulations", "certificate"), ("laws", "certificate")}
# The headers that other folders may include. A folder that is not listed has no private headers.
PUBLIC_HEADERS = {"certificate": ("certificate.hpp", "certifier.hpp")}
SUFFIXES = (".hpp", ".cpp")

PACKAGE = "stiction"
COMPILED = ("_core", "_step_options")  # modules that the build makes
# The parts of the package, the lowest first. Parts on one line do not import each other.
PYTHON_LAYERS = (
    COMPILED,
    ("errors", "version"),
    ("binding",),
    ("inputs",),
    ("tables",),
    ("laws",),
    ("setup",),
    ("cones", "lcp", "meshing"),
    ("batch", "continuous", "simulator", "surfaces"),
    ("clients", "gym", "recording", "rollouts", "scene"),
    ("__init__",),
    ("runs",),
    ("view",),
    ("analysis", "sweep"),
    ("compare",),
    ("evidence",),
    ("commands",),
    ("cli",),
    ("__main__",),
)
_LAYER_OF = {part: i for i, layer in enumerate(PYTHON_LAYERS) for part in layer}

_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def check_include(folder: str, header: str, is_local: bool, inside: str = "") -> str | None:
    """Returns what is wrong with an include of `header` by a file in `folder`; None if nothing is.

    inside:   the folder inside `folder` that has the file; "" if there is none.
    is_local: True if the header is written in quotes, as the headers of this project are.
    """
    if header.startswith("mujoco/") and folder in CONTACT_LAYERS:
        return f"{folder} is part of stiction_contact, which must not use MuJoCo"
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
    if folder != target and name not in PUBLIC_HEADERS.get(target, (name,)):
        return f"{name} is private to {target}; include {' or '.join(PUBLIC_HEADERS[target])}"
    return check_folder_inside(folder, inside, name) if folder == target else None


def check_folder_inside(folder: str, inside: str, name: str) -> str | None:
    """Returns what is wrong with an include of folder/name by a file in folder/inside."""
    order = FOLDERS_INSIDE.get(folder)
    if order is None:
        return None
    target = name.rpartition("/")[0]
    for part in (inside, target):
        if part not in order:
            return f"no folder '{folder}/{part}' in tools/check_layers.py"
    if order.index(target) > order.index(inside):
        return f"{folder}/{inside} must not include {folder}/{target}, which is built on it"
    return None


def find_faults(root: Path) -> Iterator[str]:
    """Yields `file:line: fault` for the tree under root, which has a folder for each layer."""
    for path in sorted(p for p in root.rglob("*") if p.suffix in SUFFIXES):
        folder, *others = path.relative_to(root).parent.parts
        if folder not in LAYERS:
            yield f"{path}:1: no layer has the folder '{folder}'; add it to tools/check_layers.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            match = _INCLUDE.match(line)
            fault = (
                check_include(folder, match[2], match[1] == '"', "/".join(others))
                if match
                else None
            )
            if fault:
                yield f"{path}:{number}: {fault}"


def find_python_faults(root: Path) -> Iterator[str]:
    """Yields `file:line: fault` for the package under root."""
    paths = {_name_module(path.relative_to(root)): path for path in sorted(root.rglob("*.py"))}
    modules = {*paths, *(f"{PACKAGE}.{name}" for name in COMPILED)}
    imports = {m: dict(list_imports(path.read_text(), modules)) for m, path in paths.items()}
    for module, path in paths.items():
        if _find_part(module) not in _LAYER_OF:
            yield f"{path}:1: no layer has '{_find_part(module)}'; add it to tools/check_layers.py"
        for target, line in imports[module].items():
            fault = check_import_of_module(module, target)
            if fault:
                yield f"{path}:{line}: {fault}"
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as e:
        circle = e.args[1][::-1]  # each module imports the next one; the last is the first again
        line = imports[circle[0]][circle[1]]
        yield f"{paths[circle[0]]}:{line}: imports in a circle: {' -> '.join(circle)}"


def list_imports(source: str, modules: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yields each of `modules` that a source imports, with the line, wherever the import stands.

    `from a import b` imports the module a.b if there is one, else a.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name:
                yield name, node.lineno


def check_import_of_module(module: str, target: str) -> str | None:
    """Returns what is wrong with an import of `target` by `module`; None if nothing is."""
    part, other = _find_part(module), _find_part(target)
    if part == other or not {part, other} <= _LAYER_OF.keys():
        return None
    if _LAYER_OF[part] == _LAYER_OF[other]:
        return f"{part} must not import {other}, which stands beside it"
    if _LAYER_OF[part] < _LAYER_OF[other]:
        return f"{part} must not import {other}, which is built on it"
    return None


def _name_module(path: Path) -> str:
    """Returns stiction.lcp for lcp.py, and stiction.evidence.bench for bench/__init__.py."""
    parts = path.with_suffix("").parts
    return ".".join((PACKAGE, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _find_part(module: str) -> str:
    """Returns the name in PYTHON_LAYERS of the part that a module belongs to."""
    return (*module.split("."), "__init__")[1]


def main() -> int:
    repository = Path(__file__).resolve().parent.parent
    roots = [Path(argument) for argument in sys.argv[1:]]
    roots = roots or [repository / "src" / "stiction", repository / "python" / "stiction"]
    for root in roots:
        if not root.is_dir():
            print(f"{root}: no such folder", file=sys.stderr)
            return 2
    faults = [f for root in roots for f in (*find_faults(root), *find_python_faults(root))]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
