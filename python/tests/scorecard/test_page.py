"""Tests the page, the picture and the stored rows of the scorecard."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from stiction.errors import Error
from stiction.scorecard import findings
from stiction.scorecard.engine_table import ENGINES
from stiction.scorecard.output import write_scorecard
from stiction.scorecard.page import make_page
from stiction.scorecard.picture import format_error
from stiction.scorecard.reports import REPORTS
from stiction.scorecard.results import Row, read_raw, read_rows, write_rows
from stiction.scorecard.scene_table import DERIVATIONS, SCENES
from stiction.scorecard.summary import make_cells, summarize

DOCS = Path(__file__).parents[3] / "docs"

ROW = Row(
    scene="held_cube",
    engine="stiction coulomb",
    time_step=0.01,
    value=0.5,
    error=0.02,
    creep=4e-5,
    energy_gain=0.0,
    cpu_us=20.0,
    same_bits="1",
    said="",
    failed="",
    version="Stiction 0.1.0",
    settings="defaults",
    date="2026-11-26",
)


def make_rows() -> list[Row]:
    """Returns two engines with two steps each."""
    fine = {"time_step": 0.005, "error": 0.005, "same_bits": ""}
    other = {"engine": "mujoco elliptic", "cpu_us": 10.0, "version": "MuJoCo 4.0.1"}
    failed = {"error": math.inf, "value": math.nan, "failed": "it exploded", "same_bits": "0"}
    return [
        ROW,
        dataclasses.replace(ROW, **fine),  # type: ignore[arg-type]
        dataclasses.replace(ROW, **other, **failed),  # type: ignore[arg-type]
        dataclasses.replace(ROW, **{**fine, **other, "error": 0.5}),  # type: ignore[arg-type]
    ]


def test_rows_survive_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_rows(make_rows(), path)
    back = read_rows(path)
    assert [repr(row) for row in back] == [repr(row) for row in make_rows()]


def test_a_file_that_is_no_table_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("scene,engine\nheld_cube,us\n")
    with pytest.raises(Error, match="is no table of the scorecard"):
        read_rows(path)
    with pytest.raises(Error, match="has no runs; run stiction scorecard first"):
        read_raw(tmp_path)


def test_totals_count_scenes_runs_and_what_was_said() -> None:
    cells = make_cells(reversed(make_rows()))
    ours = summarize(cells, "stiction coulomb")
    assert (ours.right, ours.near, ours.wrong, ours.failed) == (1, 0, 0, 0)
    assert (ours.same_bits, ours.repeats) == (1, 1)
    assert ours.cpu_ratio == pytest.approx(2)
    assert ours.creep == 4e-5
    theirs = summarize(cells, "mujoco elliptic")
    assert (theirs.right, theirs.wrong, theirs.failed) == (0, 1, 0)
    assert (theirs.wrong_runs, theirs.said) == (2, 1)
    assert (theirs.same_bits, theirs.repeats) == (0, 1)
    assert cells["held_cube", "stiction coulomb"].order == pytest.approx(2)
    assert math.isnan(cells["held_cube", "mujoco elliptic"].order)


def test_the_page_has_every_number_and_every_reason() -> None:
    page = make_page(make_rows())
    assert "| stiction coulomb | 1 | 0 | 0 | 0 | 40 | 0 | 2 | 1 of 1 | 0 | 0 |" in page
    assert "| stiction coulomb | 0.5 | 2 %, 0.5 % | 2.0 | 40 | 0 | 2 | yes |  |" in page
    assert "| mujoco elliptic | 0.5 | -, 50 % | - | 40 | 0 | 1 | no | it exploded |" in page
    assert "Versions: MuJoCo 4.0.1, Stiction 0.1.0." in page
    assert "runs of 2026-11-26" in page
    assert "### Bowling" not in page  # it has no rows


def test_a_finding_without_its_rows_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (
        "It errs by {held_cube/stiction coulomb/1/error} and creeps at "
        "{held_cube/stiction coulomb/0/creep}.",
        "Nobody ran {bowling/stiction coulomb/0/error}.",
    )
    monkeypatch.setattr(findings, "FINDINGS", texts)
    found = findings.list_findings(make_cells(make_rows()))
    assert found == ["It errs by 0.5 % and creeps at 40 µm/s."]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (0.0, "0"),
        (3e-8, "3e-6 %"),
        (0.00012, "0.012 %"),
        (0.123, "12 %"),
        (287.0, "> 1000 %"),
        (math.inf, "-"),
        (math.nan, "-"),
    ],
)
def test_errors_have_two_digits(error: float, text: str) -> None:
    assert format_error(error) == text


def test_page_picture_and_rows_are_written(tmp_path: Path) -> None:
    paths = write_scorecard(make_rows(), tmp_path / "new")
    assert paths.page.read_text() == make_page(make_rows())
    assert paths.picture.read_bytes().startswith(b"\x89PNG")
    again = write_scorecard(read_rows(paths.rows), tmp_path / "again")
    assert again.rows.read_bytes() == paths.rows.read_bytes()


def test_the_committed_page_is_that_of_the_committed_rows() -> None:
    rows = read_rows(DOCS / "scorecard.csv")
    assert (DOCS / "scorecard.md").read_text() == make_page(rows)
    assert {row.scene for row in rows} == set(SCENES)
    assert {row.engine for row in rows} == set(ENGINES)


def test_every_scene_has_a_derivation_and_every_engine_a_source() -> None:
    for name, text in DERIVATIONS.items():
        assert len(text.split()) > 20, name
    for engine in ENGINES.values():
        assert engine.source
        assert engine.settings_text
        assert engine.family in REPORTS
