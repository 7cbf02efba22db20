"""The one form of all texts and tables of texts that commands print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from rich.style import Style
from rich.table import Table
from rich.text import Text

from stiction.inputs.names import make_printable


def make_text(text: str, style: str | Style = "") -> Text:
    """Makes a text that is shown as it is: names are no markup, emojis or control codes."""
    return Text(make_printable(text), style)


def make_text_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    align: str = "",
    *,
    title: str | None = None,
    styles: Iterable[str] = (),
    **column: Any,
) -> Table:
    """Makes a table of texts, which are shown as they are.

    Args:
        headings: heading of each column; if all are empty, the table has no heading.
        rows: cells of each row.
        align: `l` or `r` for each column; columns without one are `l`.
        title: line above the table.
        styles: style of each row; rows without one have none.
        column: further options of each column, as `Table.add_column` has them.
    """
    table = Table(
        title=make_text(title, "table.title") if title else None,
        title_justify="left",
        show_header=any(headings),
        box=None,
        pad_edge=False,
    )
    for heading, side in zip_longest(headings, align, fillvalue="l"):
        table.add_column(make_text(heading), justify="right" if side == "r" else "left", **column)
    for row, style in zip_longest(list(rows), styles, fillvalue=""):
        table.add_row(
            *(cell if isinstance(cell, Text) else make_text(cell) for cell in row), style=style
        )
    return table
