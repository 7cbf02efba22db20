"""tools/count_places.py counts the files that a new thing touches; the build is left out here."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "count_places.py"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("count_places", TOOL)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "count_places", module)  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def test_every_recipe_fits_today_and_is_within_its_limit() -> None:
    if not (TOOL.parents[1] / ".git").exists():
        pytest.skip("files are listed by git, and this is not a checkout")
    done = subprocess.run(
        [sys.executable, TOOL, "--no-build"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert heads == [
        "normal law: 3 files of at most 3: ok",
        "option: 2 files of at most 2: ok",
        "convex contact model: 4 files of at most 4: ok",
        "study: 2 files of at most 2: ok",
    ]
    assert "  tests/laws/normal_laws_test.cpp (test)" in done.stdout


def test_tests_do_not_count_and_files_over_the_limit_do(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, copy, recipes = tmp_path / "root", tmp_path / "copy", tmp_path / "recipes"
    for folder in (root, copy, recipes):
        folder.mkdir()
    tool.git(root, "init", "-q")
    (root / "table.txt").write_text("a\nb\n")
    (recipes / "thing.txt").write_text("thing\n")
    monkeypatch.setattr(tool, "ROOT", root)
    monkeypatch.setattr(tool, "RECIPES", recipes)
    files = {"thing.txt": "thing.txt", "tests/thing.txt": ""}
    edits = (tool.Edit("table.txt", "thing\n", before="b\n"),)
    for limit, is_within in ((2, True), (1, False)):
        monkeypatch.setattr(tool, "RECIPE_LIST", (tool.Recipe("thing", limit, files, edits),))
        folder = copy / str(limit)
        folder.mkdir()
        assert tool.count_all(folder) is is_within
        assert (folder / "table.txt").read_text() == "a\nthing\nb\n"
        assert (folder / "thing.txt").read_text() == "thing\n"


def test_an_edit_without_its_place_ends_the_count(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("a\na\n")
    for place, times in (("a\n", 2), ("c\n", 0)):
        with pytest.raises(SystemExit, match=f"occurs {times} times, must occur once"):
            tool.Edit("table.txt", "x", after=place).apply(tmp_path)
