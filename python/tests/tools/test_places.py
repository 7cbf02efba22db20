"""Tests that an added thing touches few files: one that exists is named in few, apart from tests.

The recipes of CONTRIBUTING.md say which files these are. A row whose example was renamed needs the new
name. A limit may fall, and must not rise.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CODE = ("src/stiction", "python/src")

# A thing, an example by its names in code, the folders in which files count, and their largest number.
PLACES = (
    ("normal law", "ipc_barrier|IpcBarrier", CODE, 3),
    ("rigid contact model", "anitescu_potra|AnitescuPotra", CODE, 8),
    ("option", "drop_separating", CODE, 4),
    ("memory", "TouchMemory", CODE, 4),
    ("field of a report", "is_fallback", CODE, 5),
)


@pytest.mark.parametrize(("thing", "names", "folders", "limit"), PLACES)
def test_a_thing_is_named_in_few_files(
    thing: str, names: str, folders: tuple[str, ...], limit: int
) -> None:
    pattern = re.compile(rf"\b({names})\b")
    suffixes = (".hpp", ".cpp", ".py")
    paths = [path for each in folders for path in (ROOT / each).rglob("*")]
    found = [path for path in paths if path.suffix in suffixes and pattern.search(path.read_text())]
    assert found, f"no file names the {thing} {names}; take another example"
    assert len(found) <= limit, f"{thing}: {[str(path.relative_to(ROOT)) for path in found]}"
