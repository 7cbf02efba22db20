"""Sentences about the results. Each names the cells from which it takes its numbers, and appears
only if they exist."""

from __future__ import annotations

import math
import re

from stiction.scorecard.picture import format_error
from stiction.scorecard.summary import Cell

# A number is {SCENE/ENGINE/STEP/COLUMN}: STEP is 0, 1 or 2 for the largest to the smallest step,
# and COLUMN a column of the rows.
FINDINGS: tuple[str, ...] = ()

_NUMBER = re.compile(r"\{(\w+)/([\w ]+)/(\d)/(\w+)\}")


def list_findings(cells: dict[tuple[str, str], Cell]) -> list[str]:
    """Returns the findings whose numbers exist."""
    found = []
    for finding in FINDINGS:
        try:
            found.append(_NUMBER.sub(lambda match: _find_number(cells, match), finding))
        except KeyError:
            continue
    return found


def _find_number(cells: dict[tuple[str, str], Cell], match: re.Match[str]) -> str:
    scene, engine, step, column = match.groups()
    value = getattr(cells[scene, engine].rows[int(step)], column)
    if column == "error":
        return format_error(value) if value < math.inf else "no result"
    if column == "creep":
        return f"{1e6 * value:.2g} µm/s"
    return f"{value:.3g}"
