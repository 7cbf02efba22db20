"""Writes the page, the picture and the rows of the scorecard."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stiction.errors import Error
from stiction.scorecard.page import make_page
from stiction.scorecard.picture import draw_scorecard
from stiction.scorecard.results import Row, write_rows
from stiction.scorecard.summary import make_cells

_DPI = 120


@dataclass(frozen=True)
class Paths:
    """The written files."""

    rows: Path
    page: Path
    picture: Path


def write_scorecard(
    rows: Sequence[Row], out: Path, page: Path | None = None, picture: Path | None = None
) -> Paths:
    """Writes scorecard.csv, scorecard.md and scorecard.png to a folder.

    Args:
        rows: the results.
        out: the folder, which is made if it does not exist.
        page: path of the page in place of OUT/scorecard.md.
        picture: path of the picture in place of OUT/scorecard.png. The page shows it.

    Raises:
        Error: a file cannot be written.
    """
    paths = Paths(
        out / "scorecard.csv", page or out / "scorecard.md", picture or out / "scorecard.png"
    )
    link = os.path.relpath(paths.picture, paths.page.parent).replace(os.sep, "/")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_rows(rows, paths.rows)
        paths.page.write_text(make_page(rows, link))
        draw_scorecard(make_cells(rows)).savefig(paths.picture, dpi=_DPI)
    except OSError as e:
        raise Error("invalid_value", str(e.filename or out), f"cannot be written: {e}") from e
    return paths
