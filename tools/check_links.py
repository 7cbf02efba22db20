#!/usr/bin/env python3
"""Fails if a link or a citation of the repository leads nowhere. Prints file:line of each.

- A relative link in Markdown leads to a file.
- A tag in brackets, as theory:sap, is defined once in Markdown, by a line (theory:sap)= right before a
  heading.
- A key in brackets, as castro2023, is that of one entry of docs/references.bib.

Citations are looked for in the C++, Python and Markdown files that git lists below the root.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIBLIOGRAPHY = "docs/references.bib"

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:|#")
_CITATION = re.compile(r"(?<![\w\])])\[(theory:[^\]]*|[a-z]+\d{4}[a-z]?)\](?!\()")
_TAG = re.compile(r"\((theory:.*)\)=")
_ENTRY = re.compile(r"@\w+\{([^,]+),")


def list_files(root: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    suffixes = {".md", ".hpp", ".cpp", ".py", ".bib"}
    paths = [root / name for name in listed.split("\0") if Path(name).suffix in suffixes]
    return [path for path in paths if path.exists()]


def find_broken_links(path: Path, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        for target in _LINK.findall(line):
            if _ELSEWHERE.match(target) or (path.parent / target.split("#")[0]).exists():
                continue
            yield f"{path}:{number}: {target} is not there"


class Citations:
    """Names that are defined and cited, with the places where."""

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
    faults: list[str] = []
    for path in list_files(root):
        lines = path.read_text().splitlines()
        citations.read(path, lines)
        if path.suffix == ".md":
            faults += find_broken_links(path, lines)
    faults += citations.faults
    faults += citations.find_unknown()
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
