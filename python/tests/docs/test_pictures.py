"""Tests that each picture of the documentation is shown, and can be drawn again."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import draw_figures
import matplotlib.pyplot as plt
import pytest
from draw_figures import FIGURES, IMAGES, main
from PIL import Image

import stiction.sweep.sweep as sweep
from stiction.evidence.engines.environments import FOLDER
from stiction.evidence.studies.study import STUDIES, load_study
from stiction.tables.output_files import write_picture

ROOT = Path(__file__).resolve().parents[3]

# SVG files are drawn by hand.
DRAWN_BY_HAND = {path.stem for path in IMAGES.glob("*.svg")}


def find_shown_pictures() -> dict[Path, Path]:
    """Returns the pictures that pages of the repository show, each with one such page."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    pages = [ROOT / name for name in names if (ROOT / name).exists()]
    return {
        (page.parent / target).resolve(): page
        for page in pages
        for target in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text())
        if "://" not in target
    }


def test_every_picture_has_a_row() -> None:
    drawn = {path.name for path in IMAGES.iterdir() if path.suffix in (".png", ".gif")}
    assert drawn == {name + figure.suffix for name, figure in FIGURES.items()}


def test_every_picture_is_shown_and_every_shown_picture_exists() -> None:
    shown = find_shown_pictures()
    assert {str(path) for path in shown if not path.exists()} == set()
    images = {path for path in IMAGES.iterdir() if path.suffix in (".png", ".svg", ".jpg", ".gif")}
    assert {path.name for path in images - set(shown)} == set()
    assert len(DRAWN_BY_HAND) + len(FIGURES) == len(images)


@pytest.mark.parametrize("name", FIGURES)
def test_a_row_names_a_plot_that_its_command_draws(name: str) -> None:
    figure = FIGURES[name]
    program, *arguments = figure.command
    if arguments[0] == "study":
        assert arguments[1] in STUDIES
        assert figure.plot in load_study(arguments[1]).plots
    elif program == "python":
        assert f'"{figure.plot}{figure.suffix}"' in (ROOT / arguments[0]).read_text()
    elif arguments[0] == "sweep":
        assert (ROOT / arguments[1]).exists()
        assert f"{figure.plot}.png" == sweep.PLOT
    elif arguments[0] == "scorecard":
        assert (ROOT / arguments[2]).exists()
        assert (
            f'"{figure.plot}.png"'
            in (ROOT / "python/stiction/evidence/scorecard/page.py").read_text()
        )
    else:
        assert (program, *arguments) == ("stiction", "bench", figure.plot)


def test_an_unknown_picture_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["study_clutters"])
    assert "there is no picture 'study_clutters'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("study_pancake", 0, ""),
        ("study_grasp", 1, "a check of `stiction study grasp` failed"),
        ("study_grasp", 3, "`stiction study grasp` ended with 3"),
        ("pinch", 1, "`python docs/images/draw_pinch.py` ended with 1"),
    ],
)
def test_a_command_that_fails_leaves_the_picture(
    name: str, code: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command has drawn its plot, but ends with a code."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        folder = Path(command[-1])
        folder.mkdir(parents=True)
        Image.new("RGB", (4, 4), "red").save(folder / f"{FIGURES[name].plot}.png")
        return subprocess.CompletedProcess(command, code)

    images = tmp_path / "images"
    images.mkdir()
    (images / f"{name}.png").write_bytes(b"as it was")
    monkeypatch.setattr(draw_figures.subprocess, "run", run)
    monkeypatch.setenv("MUJOCO_GL", "egl")  # no command runs, so no library renders
    for attribute, value in (("IMAGES", images), ("_OUTPUT", tmp_path / "out"), ("ROOT", tmp_path)):
        monkeypatch.setattr(draw_figures, attribute, value)
    if code == 0:
        main([name])
        assert (images / f"{name}.png").read_bytes() != b"as it was"
        return
    with pytest.raises(SystemExit) as stopped:
        main([name])
    assert f"error: {name}.png was not drawn" in str(stopped.value)
    assert expected in str(stopped.value)
    assert (images / f"{name}.png").read_bytes() == b"as it was"


_NEEDS = {
    "pydrake": r"\bdrake_(model|planar|plant)\b",
    "newton": r'ENVIRONMENTS\["newton"\]',
}  # in studies
_PACKAGES = ("gymnasium", "playwright", "pydrake")


def read_sources(figure: draw_figures.Figure) -> str:
    """Returns the programs that draw a picture, as far as they are its own."""
    if figure.is_study:
        folder = ROOT / "python/stiction/evidence/studies" / figure.command[2]
        return "".join(path.read_text() for path in folder.glob("*.py"))
    return (ROOT / figure.command[1]).read_text() if figure.command[0] == "python" else ""


@pytest.mark.parametrize("name", FIGURES)
def test_a_row_names_what_its_command_needs(name: str) -> None:
    """Without a simulator of others, a study leaves its rows out, and would draw another picture."""
    source = read_sources(FIGURES[name])
    found = {need for need, pattern in _NEEDS.items() if re.search(pattern, source)}
    found |= {
        package
        for package in _PACKAGES
        if re.search(rf"^(import|from) {package}\b", source, re.MULTILINE)
    }
    assert found <= set(FIGURES[name].needs)


@pytest.mark.parametrize(
    ("name", "need"), [(name, need) for name, figure in FIGURES.items() for need in figure.needs]
)
def test_a_picture_is_not_drawn_without_what_it_needs(
    name: str, need: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(draw_figures, "_is_installed", lambda each: each != need)
    monkeypatch.setattr(draw_figures.subprocess, "run", lambda *_, **__: pytest.fail("it ran"))
    assert main([name]) == 0
    assert (
        capsys.readouterr().out == f"{name}: not drawn, because of what is not installed: {need}\n"
    )


def test_packages_and_environments_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draw_figures, "ROOT", tmp_path)
    is_installed = draw_figures._is_installed
    assert is_installed("numpy") and is_installed("numpy.linalg")
    assert not is_installed("no_such_package") and not is_installed("no_such_package.part")
    assert not is_installed("newton")
    python = tmp_path / FOLDER / "newton" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert is_installed("newton")


def test_a_picture_keeps_the_mark_by_which_commands_know_it(tmp_path: Path) -> None:
    figure = plt.figure(figsize=(1, 1))
    figure.savefig(tmp_path / "plot.png")
    write_picture(figure, tmp_path / "ours.png")
    plt.close(figure)
    for name, expected in (("plot", None), ("ours", "stiction")):
        draw_figures._write_picture(tmp_path / f"{name}.png", tmp_path / "picture.png")
        with Image.open(tmp_path / "picture.png") as image:
            assert image.info.get("Software") == expected


def test_the_picture_that_moves_is_small_and_repeats() -> None:
    path = IMAGES / "creep.gif"
    assert path.stat().st_size < 1.5e6
    with Image.open(path) as image:
        assert image.n_frames > 40
        assert image.info["loop"] == 0, "repeats for ever"
