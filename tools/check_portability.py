#!/usr/bin/env python3
"""Fails if code depends on an operating system where it must not.

    check_portability.py [FOLDER...]

C++: only src/stiction/base may include headers of an operating system and ask for its name. A header
whose name ends in `.h` is one of them, unless it belongs to a library that the project uses. Elementary
functions are those of src/stiction/math/scalar_functions.hpp, because the bits of std::exp and the like
differ between C libraries.

Python: a module may not import modules that only POSIX systems have, nor use such functions of `os` and
`signal`, except in a branch that asks for `sys.platform` or `os.name`, or uses `hasattr`.

Without arguments it checks src/stiction, python/src and python/stiction. Prints file:line for every
fault; exit code 1 if there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("src/stiction", "python/src", "python/stiction")
BASE = "base"  # the folder of src/stiction that may use an operating system
LIBRARY_HEADERS = re.compile(
    r"(mujoco|nanobind|suitesparse|yaml-cpp)/|tinyxml2\.h$|(api|auxiliary|utils)\.h$"  # the last: DAQP
)
SYSTEM_NAMES = re.compile(
    r"\b(_WIN32|_WIN64|__linux__|__linux|__unix__|__APPLE__|__MACH__|_POSIX_\w+|_GNU_SOURCE)\b"
)
ELEMENTARY_FUNCTIONS = re.compile(
    r"\bstd::(a?(sin|cos|tan)h?|atan2|hypot|cbrt|pow|exp2?|expm1|log(2|10|1p)?|[lt]gamma|erfc?)\("
)
_SYSTEM_HEADER = re.compile(r"^\s*#\s*include\s*<([^>]+\.h)>")

POSIX_MODULES = {
    *("crypt", "fcntl", "grp", "nis", "posix", "pty", "pwd", "resource", "spwd", "syslog"),
    *("termios", "tty"),
}
POSIX_FUNCTIONS = {
    "os": re.compile(
        r"(fork(pty)?|wait\w*|kill(pg)?|nice|chroot|mkfifo|uname|sysconf|getloadavg|register_at_fork"
        r"|sched_\w+|posix_\w+|[gs]et(e|re|res)?[ug]id|[gs]etp?gid|[gs]etsid|[gs]etpriority|setpgrp)$"
    ),
    "signal": re.compile(
        r"(SIG(ALRM|CHLD|CONT|HUP|KILL|PIPE|QUIT|STOP|TSTP|USR1|USR2|WINCH)|alarm|pause|[gs]etitimer"
        r"|pthread_\w+|sigwait\w*|siginterrupt)$"
    ),
}
_GUARD = re.compile(r"\bsys\.platform\b|\bos\.name\b|\bhasattr\(")


def find_faults(folder: Path) -> Iterator[str]:
    """Yields `file:line: fault` for the C++ and Python files under a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".py":
            yield from (f"{path}:{line}: {fault}" for line, fault in check_python(path.read_text()))
        elif path.suffix in (".hpp", ".cpp") and path.relative_to(folder).parts[0] != BASE:
            yield from (f"{path}:{line}: {fault}" for line, fault in check_cpp(path.read_text()))


def check_cpp(source: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the fault of each use of an operating system or C library."""
    for number, line in enumerate(source.splitlines(), start=1):
        header = _SYSTEM_HEADER.match(line)
        if header and not LIBRARY_HEADERS.match(header[1]):
            yield (
                number,
                f"{header[1]} is not a header of standard C++; use one, or add a function to "
                "src/stiction/base that also works on Windows",
            )
        name = SYSTEM_NAMES.search(line.partition("//")[0])
        if name:
            yield (
                number,
                f"{name[1]} belongs in src/stiction/base, behind a function for all systems",
            )
        function = ELEMENTARY_FUNCTIONS.search(line.partition("//")[0])
        if function:
            yield (
                number,
                f"the bits of std::{function[1]} differ between C libraries; use the functions of "
                "stiction/math/scalar_functions.hpp",
            )


def check_python(source: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the fault of each unguarded use of POSIX by a Python module."""
    yield from _check_nodes(ast.parse(source))


def _check_nodes(node: ast.AST) -> Iterator[tuple[int, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.If, ast.IfExp)) and _GUARD.search(ast.unparse(child.test)):
            continue
        for name in _list_posix_names(child):
            yield (
                getattr(child, "lineno", 0),
                f"{name} does not exist on Windows; ask for sys.platform first, or do without it",
            )
        yield from _check_nodes(child)


def _list_posix_names(node: ast.AST) -> list[str]:
    """Returns the names that only POSIX has and that a node itself uses."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in POSIX_MODULES]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        functions = POSIX_FUNCTIONS.get(module)
        names = [f"{module}.{alias.name}" for alias in node.names]
        if module in POSIX_MODULES:
            return names
        return [n for n in names if functions and functions.match(n.rpartition(".")[2])]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        functions = POSIX_FUNCTIONS.get(node.value.id)
        if functions and functions.match(node.attr):
            return [f"{node.value.id}.{node.attr}"]
    return []


def main() -> int:
    repository = Path(__file__).resolve().parent.parent
    folders = [Path(argument) for argument in sys.argv[1:]] or [repository / f for f in FOLDERS]
    for folder in folders:
        if not folder.is_dir():
            print(f"{folder}: no such folder", file=sys.stderr)
            return 2
    faults = [fault for folder in folders for fault in find_faults(folder)]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
