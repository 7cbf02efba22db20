"""Writes the page, the picture and the rows of the scorecard."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stiction.errors import Error
from stiction.evidence.scorecard.page import TITLE, make_page
from stiction.evidence.scorecard.picture import draw_scorecard
from stiction.evidence.scorecard.results import HEADER, Row, write_rows
from stiction.evidence.scorecard.summary import make_cells
from stiction.tables.output_files import (
    begins_with,
    check_output,
    check_picture_path,
    write_picture,
)


@dataclass(frozen=True)
class Paths:
    """The written files."""

    rows: Path
    page: Path
    picture: Path


def choose_paths(out: Path, page: Path | None = None, picture: Path | None = None) -> Paths:
    """Returns the paths of scorecard.csv, scorecard.md and scorecard.png.

    Args:
        out: the folder, which is made if it does not exist.
        page: path of the page in place of OUT/scorecard.md.
        picture: path of the picture in place of OUT/scorecard.png.

    Raises:
        Error: a file cannot be written, or would replace one that is not of the scorecard.
    """
    paths = Paths(
        out / "scorecard.csv", page or out / "scorecard.md", picture or out / "scorecard.png"
    )
    check_picture_path(paths.picture)
    check_output(paths.rows, "a table of the scorecard", begins_with(HEADER))
    check_output(paths.page, "a page of the scorecard", begins_with(TITLE))
    return paths


def write_scorecard(rows: Sequence[Row], paths: Paths) -> None:
    """Writes the table of rows, the page and the picture, which the page shows.

    Raises:
        Error: a file cannot be written.
    """
    link = os.path.relpath(paths.picture, paths.page.parent).replace(os.sep, "/")
    try:
        write_rows(rows, paths.rows)
        paths.page.write_text(make_page(rows, link))
        write_picture(draw_scorecard(make_cells(rows)), paths.picture)
    except OSError as e:
        raise Error(
            "invalid_value", str(e.filename or paths.page), f"cannot be written: {e}"
        ) from e
