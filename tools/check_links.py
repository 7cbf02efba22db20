#!/usr/bin/env python3
"""Fails if a link, a path or a citation of the repository is broken. Prints file:line of each fault.

- A relative link in Markdown leads to a file.
- A path in backticks in Markdown, such as `laws/friction.hpp`, leads to a file or folder of the
  repository. It starts at the root, at the folder of the page, or at a source folder. Paths that may
  belong to the reader are not checked: those whose first folder does not exist, except C++ files, and
  files without a folder, except C++ and Python files.
- A tag in brackets, such as theory:sap, is defined once in Markdown, by a line (theory:sap)= right before
  a heading.
- A key in brackets, such as castro2023, is the key of one entry of docs/references.bib.

Citations are looked for in the C++, Python and Markdown files that git lists below the root.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
BIBLIOGRAPHY = "docs/references.bib"

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:|#")
_CITATION = re.compile(r"(?<![\w\])])\[(theory:[^\]]*|[a-z]+\d{4}[a-z]?)\](?!\()")
_TAG = re.compile(r"\((theory:.*)\)=")
_ENTRY = re.compile(r"@\w+\{([^,]+),")
_CODE = re.compile(r"(?<!`)`([^`\s]+)`(?!`)")
_PATH = re.compile(r"[\w.*?+-]+(/[\w.*?+-]+)*")
_BRACES = re.compile(r"\{([^{}]*)\}")
_SOURCE_FOLDERS = ("", "src", "src/stiction", "python", "python/stiction")
_CPP = (".hpp", ".cpp")


def list_files(root: Path) -> list[Path]:
    """Returns the files that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [root / name for name in listed.split("\0") if name and (root / name).exists()]


def find_broken_links(path: Path, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        for target in _LINK.findall(line):
            if _ELSEWHERE.match(target) or (path.parent / target.split("#")[0]).exists():
                continue
            yield f"{path}:{number}: {target} is not there"


class RepositoryPaths:
    """The files and folders of the repository."""

    def __init__(self, root: Path, files: list[Path]) -> None:
        self._root = root
        names = [PurePosixPath(file.relative_to(root).as_posix()) for file in files]
        self._file_names = {name.name for name in names}
        self._paths = {str(name) for name in names}
        self._paths |= {str(parent) for name in names for parent in name.parents}

    def find_missing(self, page: Path, lines: list[str]) -> Iterator[str]:
        """Yields a fault for each path in backticks that does not exist."""
        is_in_block = False
        for number, line in enumerate(lines, start=1):
            if line.lstrip().startswith("```"):
                is_in_block = not is_in_block
            for code in [] if is_in_block else _CODE.findall(line):
                for name in _expand_braces(code.rstrip("/")):
                    if _PATH.fullmatch(name) and not self._is_there(page, PurePosixPath(name)):
                        yield f"{page}:{number}: {name} is not in the repository"

    def _is_there(self, page: Path, name: PurePosixPath) -> bool:
        """Returns True if the path exists, or need not exist."""
        if len(name.parts) == 1:
            is_source = name.suffix in (*_CPP, ".py") and "*" not in name.name
            return not is_source or name.name in self._file_names
        folder = page.parent.relative_to(self._root).as_posix()
        bases = [PurePosixPath(base) for base in (folder, *_SOURCE_FOLDERS)]
        if any(self._exists(base / name) for base in bases):
            return True
        return name.suffix not in _CPP and not any(
            str(base / name.parts[0]) in self._paths for base in bases
        )

    def _exists(self, path: PurePosixPath) -> bool:
        return str(path) in self._paths or bool(fnmatch.filter(self._paths, str(path)))


def _expand_braces(text: str) -> Iterator[str]:
    """Yields a/b.hpp and a/b.cpp for a/b.{hpp,cpp}."""
    parts = _BRACES.split(text)
    choices = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    return ("".join(choice) for choice in itertools.product(*choices))


class Citations:
    """The names that files define and cite, with file and line of each."""

    def __init__(self, bibliography: Path) -> None:
        self._bibliography = bibliography
        self._defined: dict[str, str] = {}
        self._cited: list[tuple[str, str]] = []
        self.faults: list[str] = []

    def read(self, path: Path, lines: list[str]) -> None:
        for number, line in enumerate(lines, start=1):
            place = f"{path}:{number}"
            self._cited += [(place, name) for name in _CITATION.findall(line)]
            if path == self._bibliography and (entry := _ENTRY.match(line)):
                self._define(entry[1], place)
            if path.suffix == ".md" and (tag := _TAG.fullmatch(line)):
                self._define(tag[1], place)
                if not lines[number : number + 1] or not lines[number].startswith("#"):
                    self.faults.append(f"{place}: {tag[1]} must stand right before a heading")

    def _define(self, name: str, place: str) -> None:
        first = self._defined.setdefault(name, place)
        if first != place:
            self.faults.append(f"{place}: {name} is defined already, at {first}")

    def find_unknown(self) -> Iterator[str]:
        for place, name in self._cited:
            if name not in self._defined:
                home = "section" if name.startswith("theory:") else f"entry of {BIBLIOGRAPHY}"
                yield f"{place}: there is no {home} [{name}]"


def main() -> int:
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    citations = Citations(root / BIBLIOGRAPHY)
    files = list_files(root)
    paths = RepositoryPaths(root, files)
    faults: list[str] = []
    for path in files:
        if path.suffix not in {".md", ".hpp", ".cpp", ".py", ".bib"}:
            continue
        lines = path.read_text().splitlines()
        citations.read(path, lines)
        if path.suffix == ".md":
            faults += find_broken_links(path, lines)
            faults += paths.find_missing(path, lines)
    faults += citations.faults
    faults += citations.find_unknown()
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
