#!/usr/bin/env python3
"""Fails if a relative link in a Markdown file of the repository leads nowhere. Prints file:line."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:|#")


def find_faults(path: Path) -> Iterator[str]:
    """Yields `file:line: fault` for links of one file, as seen from its folder."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        for target in _LINK.findall(line):
            if _ELSEWHERE.match(target):
                continue
            if not (path.parent / target.split("#")[0]).exists():
                yield f"{path}:{number}: {target} is not there"


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pages = [ROOT / name for name in listed.split("\0") if name]
    faults = [fault for path in pages if path.exists() for fault in find_faults(path)]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
