"""Tests that replays are made once for each build, and that pages and the table of replays agree."""

from __future__ import annotations

import re
from pathlib import Path

import make_replays
import pytest
from make_replays import REPLAYS, main

ROOT = Path(__file__).resolve().parents[3]
# The name, a picture and a caption; an option stands between empty lines.
BLOCK = re.compile(
    r"^:::\{replay\} (\w+)\n(?::live:\n\n)?!\[[^\]]+\]\(([^)]+)\)\n\n(.+?)\n:::$",
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Replaces the commands by one that writes its name; returns the calls: name and whole or not."""
    calls: list[tuple[str, bool]] = []

    def make(page: Path, source: make_replays.Source, *, is_whole: bool) -> str | None:
        calls.append((page.stem, is_whole))
        page.write_text(page.stem)
        return None

    build = tmp_path / "build.stamp"
    build.write_text("first")
    monkeypatch.setattr(make_replays, "_make", make)
    monkeypatch.setattr(make_replays, "FOLDER", tmp_path / "files" / "replays")
    monkeypatch.setattr(make_replays, "_STAMPS", tmp_path / "stamps")
    monkeypatch.setattr(make_replays, "_BUILD", build)
    return calls


def test_every_replay_is_shown_with_a_picture_and_every_shown_replay_has_a_row() -> None:
    shown = set()
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text()
        blocks = BLOCK.findall(text)
        assert len(blocks) == text.count(":::{replay}"), page
        for name, picture, _ in blocks:
            assert (page.parent / picture).exists()
            shown.add(name)
    assert shown == set(REPLAYS)


def test_a_replay_is_made_again_after_a_new_build(commands: list[tuple[str, bool]]) -> None:
    main([])
    assert sorted(commands) == [(name, False) for name in sorted(REPLAYS)]
    main([])
    assert len(commands) == len(REPLAYS)
    make_replays._BUILD.write_text("second")
    main(["disk"])
    assert commands[len(REPLAYS) :] == [("disk", False)]


def test_a_whole_run_takes_the_place_of_a_quick_one(commands: list[tuple[str, bool]]) -> None:
    main(["disk", "start"])
    main(["disk", "start", "--gallery"])
    # The scene of the start page has no quick run.
    assert commands[2:] == [("disk", True)]
    main(["disk", "start"])
    assert len(commands) == 3


def test_replays_without_a_row_are_removed(commands: list[tuple[str, bool]]) -> None:
    make_replays.FOLDER.mkdir(parents=True)
    (make_replays.FOLDER / "old.html").write_text("old")
    main(["disk"])
    assert [path.name for path in make_replays.FOLDER.iterdir()] == ["disk.html"]


def test_an_unknown_replay_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["disc"])
    assert "there is no replay 'disc'" in capsys.readouterr().err
