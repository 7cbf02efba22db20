"""Tests the one form of tables of texts."""

from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stiction.tables.text_table import make_text_table


def show(table: Table) -> list[str]:
    """Returns the lines of a table, without the spaces at their ends."""
    file = io.StringIO()
    Console(file=file, width=100, highlight=False).print(table)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_headings_columns_and_title() -> None:
    rows = [("a", "1", "x"), (Text("bc", style="bold"), "23", "y")]
    table = make_text_table(("name", "size", ""), rows, "lr", title="One", no_wrap=True)
    assert show(table) == ["One", "name  size", "a        1  x", "bc      23  y"]


def test_a_table_without_headings_has_no_empty_line() -> None:
    assert show(make_text_table(("", ""), [("a", "b")])) == ["a  b"]


def test_texts_are_shown_as_they_are() -> None:
    texts = ["[red]title\x1b[0m", "[bold]", "geom [left] :smile:", "\x1b[31mred"]
    table = make_text_table(texts[1:2], [(text,) for text in texts[2:]], title=texts[0])
    assert show(table) == [text.replace("\x1b", "\\x1b") for text in texts]
