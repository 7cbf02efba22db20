"""Tests that tables of docs/step.md are complete."""

from __future__ import annotations

import re
from pathlib import Path

import stiction


def test_the_table_of_missing_memory_has_every_kind() -> None:
    page = (Path(__file__).parents[3] / "docs" / "step.md").read_text()
    table = page.split("| `missing_memory` |", 1)[1].split("\n\n", 1)[0]
    kinds = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    described = set(re.findall(r"'(\w+)'", stiction.StepReport.missing_memory.__doc__ or ""))
    assert kinds == described and len(kinds) >= 7
