"""Tests the page, the picture and the stored rows of the scorecard."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from stiction.errors import Error
from stiction.evidence.scorecard import findings
from stiction.evidence.scorecard.engine_table import ENGINES
from stiction.evidence.scorecard.page import REPORTS, choose_paths, make_page, write_scorecard
from stiction.evidence.scorecard.picture import format_error
from stiction.evidence.scorecard.results import (
    ENDED,
    Row,
    make_cells,
    read_raw,
    read_rows,
    summarize,
    write_rows,
)
from stiction.evidence.scorecard.scene import calc_energy_gain
from stiction.evidence.scorecard.scene_table import SCENES
from stiction.tables.output_files import check_picture_path

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
    machine="an abacus",
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
    assert "4 runs of 2026-11-26, on an abacus.\n" in page
    assert "### Bowling" not in page  # it has no rows


def test_the_time_of_an_engine_for_gpus_is_marked() -> None:
    page = make_page([*make_rows(), dataclasses.replace(ROW, engine="newton steel")])
    assert "| newton steel | 0 | 1 | 0 | 0 | 40 | 0 | 2 † |" in page
    assert "| stiction coulomb | 1 | 0 | 0 | 0 | 40 | 0 | 2 |" in page
    assert "† marks an engine that" in page


def test_the_models_with_creep_have_rows_at_the_default_tolerance() -> None:
    assert ENGINES["stiction coulomb soft"].settings["options"] == {"friction_law": "soft"}
    assert ENGINES["stiction lagged defaults"].settings["options"] == {}
    # sap has no slip tolerance, so its row has the defaults.
    assert ENGINES["stiction sap"].settings["options"] == {}
    creep = {r.engine: r.creep for r in COMMITTED if r.scene == "held_cube" and r.time_step == 0.01}
    for name in ("coulomb soft", "lagged defaults"):
        # Half of the friction bound: rho / sqrt(1 - rho^2) of the tolerance of 1e-4 m/s.
        assert creep[f"stiction {name}"] == pytest.approx(1e-4 / math.sqrt(3), rel=1e-3)


def test_a_finding_without_its_rows_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (
        "It errs by {held_cube/stiction coulomb/1/error} and creeps at "
        "{held_cube/stiction coulomb/0/creep}.",
        "Nobody ran {bowling/stiction coulomb/0/error}.",
    )
    monkeypatch.setattr(findings, "FINDINGS", texts)
    found = findings.list_findings(make_cells(make_rows()))
    assert found == ["It errs by 0.5 % and creeps at 40 µm/s."]


def test_a_finding_without_its_claim_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "if {{held_cube/stiction coulomb/0/error}} {}\nIt errs."
    monkeypatch.setattr(findings, "FINDINGS", (text.format("> 0.1"), text.format("< 0.1")))
    assert findings.list_findings(make_cells(make_rows())) == ["It errs."]


FAMILIES = {
    "MuJoCo": "mujoco",
    "Drake": "drake",
    "Newton": "newton",
    "Steel": "newton",
    "Bullet": "bullet",
    "Genesis": "genesis",
    "MotrixSim": "motrix",
    "Pinocchio": "pinocchio",
}
COMMITTED = read_rows(DOCS / "scorecard.csv")


@pytest.mark.parametrize("scene", SCENES)
def test_the_page_of_one_scene_speaks_of_no_other(scene: str) -> None:
    """All findings of a page are those that name cells of this scene."""
    page = make_page([row for row in COMMITTED if row.scene == scene])
    found = findings.list_findings(make_cells([r for r in COMMITTED if r.scene == scene]))
    others = [f for f in findings.list_findings(make_cells(COMMITTED)) if f not in found]
    assert all(f"{{{scene}/" in finding for finding in findings.FINDINGS if _has(finding, found))
    assert not any(other in page for other in others)
    assert [other for other in SCENES if f"### {SCENES[other].title}\n" in page] == [scene]


def _has(finding: str, found: list[str]) -> bool:
    words = findings._CLAIM.sub("", finding).split()[:5]
    return any(text.split()[:5] == words for text in found)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_page_of_one_engine_speaks_of_no_other(engine: str) -> None:
    page = make_page([row for row in COMMITTED if row.engine == engine])
    own = page[page.index("## Totals") :] if "## What we found" not in page else page
    named = {family for word, family in FAMILIES.items() if word in own.partition("## Scenes")[0]}
    named |= {
        family for word, family in FAMILIES.items() if word in page.partition("## Engines")[2]
    }
    # The engine's own settings may quote the source of another one.
    if ENGINES[engine].family == "stiction":
        assert not named, page
    assert "virtual machine" in page  # of these rows


def test_every_finding_depends_on_rows() -> None:
    assert len(findings.FINDINGS) > 10
    assert findings.list_findings({}) == []
    # Each is true of the committed rows.
    assert len(findings.list_findings(make_cells(COMMITTED))) == len(findings.FINDINGS)


def test_round_off_has_no_order() -> None:
    rows = [
        dataclasses.replace(ROW, time_step=h, error=e) for h, e in ((0.01, 2e-13), (0.005, 7e-14))
    ]
    assert math.isnan(make_cells(rows)["held_cube", "stiction coulomb"].order)


def test_our_own_words_are_not_those_of_the_engine() -> None:
    ended = dataclasses.replace(ROW, failed=f"{ENDED} 180 s, or the process died")
    assert not ended.is_said
    assert dataclasses.replace(ended, said="penetration").is_said
    assert dataclasses.replace(ROW, failed="the solver failed").is_said


@pytest.mark.parametrize(
    ("heights", "gain"),
    [((0, 1, 2), 2), ((5, 1, 4, 2), 3), ((3, 2, 1), 0), ((5, 0, 1, 0, 2, 4.5), 4.5)],
)
def test_the_energy_gain_is_the_largest_rise(heights: tuple[float, ...], gain: float) -> None:
    """A body at rest at some heights, of 1 N: it may have lost energy before it gains some."""
    n = len(heights)
    still, upright = np.zeros((n, 1, 3)), np.tile([1.0, 0, 0, 0], (n, 1, 1))
    pos = still.copy()
    pos[:, 0, 2] = heights
    run = SimpleNamespace(time=np.arange(n), pos=pos, quat=upright, spin=still, velocity=still)
    body = SimpleNamespace(mass=1.0, inertia=(1.0, 1, 1), force=(0.0, 0, 0), pos=(0.0, 0, 0))
    world = SimpleNamespace(gravity=(0.0, 0, -1), bodies=[body])
    assert calc_energy_gain(world, run) == pytest.approx(gain)  # type: ignore[arg-type]


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
    paths = choose_paths(tmp_path / "new")
    write_scorecard(make_rows(), paths)
    assert paths.page.read_text() == make_page(make_rows())
    assert paths.picture.read_bytes().startswith(b"\x89PNG")
    elsewhere = tmp_path / "docs" / "images" / "errors.png"
    moved = choose_paths(tmp_path / "new", tmp_path / "docs" / "a.md", elsewhere)
    write_scorecard(make_rows(), moved)
    for written in (paths, moved):
        link = re.search(r"!\[.*\]\((.*)\)", written.page.read_text())
        assert link and (written.page.parent / link[1]).resolve() == written.picture.resolve()
    again = choose_paths(tmp_path / "again")
    write_scorecard(read_rows(paths.rows), again)
    assert again.rows.read_bytes() == paths.rows.read_bytes()


@pytest.mark.parametrize("file", ["scorecard.csv", "scorecard.md", "scorecard.png"])
def test_only_files_of_the_scorecard_are_replaced(tmp_path: Path, file: str) -> None:
    write_scorecard(make_rows(), choose_paths(tmp_path))
    choose_paths(tmp_path)  # all of them are ours
    (tmp_path / file).write_text("<mujoco/>")
    with pytest.raises(Error, match=f"{file}: exists and is not a .*; give another name"):
        choose_paths(tmp_path)
    assert (tmp_path / file).read_text() == "<mujoco/>"


def test_the_picture_of_the_page_can_be_drawn_again() -> None:
    """The recipe of CONTRIBUTING.md replaces it, so it carries the mark of our pictures."""
    check_picture_path(DOCS / "images" / "scorecard.png")


def test_a_picture_of_another_kind_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"must end in \.png, because .*; name it 'x\.png'"):
        choose_paths(tmp_path / "new", picture=tmp_path / "x.xyz")
    assert not (tmp_path / "new").exists()


HEADER = (
    "scene,engine,time_step,value,error,creep,energy_gain,cpu_us,same_bits,said,failed,version,settings,"
    "date,machine"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it has no rows"),
        ("hi\n", "it has no rows"),
        (f"{HEADER}\n", "it has no rows"),
        ("scene,engine\nheld_cube,us\n", "missing"),
        (f"{HEADER}\nnope,stiction coulomb,1,1,1,1,1,1,1,,,,,,\n", "there is no scene 'nope'"),
        (f"{HEADER}\nheld_cube,nope,1,1,1,1,1,1,1,,,,,,\n", "with engine 'nope'"),
    ],
)
def test_a_faulty_table_is_an_error(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(Error, match=f"is no table of the scorecard.*{reason}"):
        read_rows(path)


def test_damaged_raw_data_are_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "cradle"
    folder.mkdir()
    about = folder / "stiction_coulomb-0.001-0.json"
    about.write_text("{}")
    with pytest.raises(Error, match="cannot be read: it has no '.*'; delete it and run again"):
        read_raw(tmp_path)
    stored = dict.fromkeys(("engine", "time_step", "version", "settings", "date"), "")
    about.write_text(json.dumps(stored))
    for content in (b"", b"x\n", b"PK\x03\x04"):
        about.with_suffix(".npz").write_bytes(content)
        with pytest.raises(Error, match=r"npz: cannot be read: .*; delete it and run again"):
            read_raw(tmp_path)


def test_the_committed_page_is_that_of_the_committed_rows() -> None:
    rows = read_rows(DOCS / "scorecard.csv")
    assert (DOCS / "scorecard.md").read_text() == make_page(rows, "images/scorecard.png")
    assert {row.scene for row in rows} == set(SCENES)
    assert {row.engine for row in rows} == set(ENGINES)


def test_every_scene_has_a_derivation_and_every_engine_a_source() -> None:
    for scene in SCENES.values():
        assert len(scene.derivation.split()) > 20, scene.name
    for engine in ENGINES.values():
        assert engine.source
        assert engine.settings_text
        assert engine.family in REPORTS


def test_the_best_engine_is_first_in_each_table() -> None:
    """In scenes by the error at the smallest step, and in the totals by the number of right answers."""
    text = (DOCS / "scorecard.md").read_text()
    rank = {">": 2000.0, "-": math.inf}
    tables = [part for part in text.split("### ")[1:] if "| order |" in part]
    assert len(tables) == 22
    for part in tables:
        part = part.partition("\n## ")[0]
        rows = [x for x in part.splitlines() if x.startswith("| ")][1:]
        finest = [row.split("|")[3].split(",")[-1].strip() for row in rows]
        errors = [rank.get(x[0], 0) or float(x.removesuffix("%")) for x in finest]
        assert errors == sorted(errors), part.splitlines()[0]
    totals = text.partition("## Totals")[2].partition("## ")[0]
    right = [int(x.split("|")[2]) for x in totals.splitlines() if re.match(r"\| \w+ .*\d", x)]
    assert right == sorted(right, reverse=True) and len(right) > 20
