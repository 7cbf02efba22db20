"""Tests that the tables of docs/performance.md are those that ./dev bench draws."""

from __future__ import annotations

import shutil
from pathlib import Path

import draw_tables
import pytest
from draw_tables import PAGE, TABLES, find_table, main

from stiction.commands.bench_tables import make_markdown


def get_heading(columns: str) -> str:
    return make_markdown(columns, []).splitlines()[0]


def test_each_table_has_its_markers_and_headings() -> None:
    text = PAGE.read_text()
    assert text.count("<!-- table ") == text.count("<!-- end -->") == len(TABLES)
    for name, (columns, _) in TABLES.items():
        assert find_table(name, text)[2].splitlines()[0] == get_heading(columns)


def test_a_table_is_drawn_into_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    shutil.copy(PAGE, page)
    main(["--only", "taxels", "--quick", "--page", str(page)])
    before, after = PAGE.read_text(), page.read_text()
    assert after != before
    drawn = find_table("taxels", after)
    assert len(drawn[2].splitlines()) == 5
    old = find_table("taxels", before)
    assert after[: drawn.start()] == before[: old.start()]
    assert after[drawn.end() :] == before[old.end() :]


def test_a_table_whose_peer_is_absent_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    shutil.copy(PAGE, page)
    monkeypatch.setattr(draw_tables.drake_plant, "is_installed", lambda: False)
    main(["--only", "drake", "--page", str(page)])
    assert page.read_text() == PAGE.read_text()
    assert "drake: the table stays as it was: Drake: is not installed" in capsys.readouterr().err


def test_a_page_without_markers_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    with pytest.raises(SystemExit, match="page.md is not a file"):
        main(["--only", "lcp", "--page", str(page)])
    page.write_text("text")
    with pytest.raises(SystemExit, match="no markers of the table 'lcp'"):
        main(["--only", "lcp", "--page", str(page)])


def test_quick_figures_are_not_written_into_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = PAGE.read_text()
    monkeypatch.setitem(TABLES, "lcp", (TABLES["lcp"][0], lambda _: []))
    main(["--only", "lcp", "--quick"])
    assert PAGE.read_text() == before
    assert capsys.readouterr().out.startswith("lcp:")
