"""Tests `stiction view` as a command: pages, errors, and the server until Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner, Result

import stiction
from stiction.cli import app
from stiction.inputs.package_scenes import find_scene_file
from stiction.view.palette import color_pressures
from stiction.view.readers import can_view
from stiction.view.simulation import Simulation

pytestmark = pytest.mark.skipif(not can_view(), reason="viser and mjviser are not installed")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["view", *map(str, arguments)], standalone_mode=False)


def expect_usage(result: Result, message: str) -> None:
    """The parser's errors end the command with exit code 2."""
    assert isinstance(result.exception, typer.BadParameter), result.output
    assert re.search(message, result.exception.format_message()), result.exception.format_message()


def expect_error(result: Result, message: str) -> None:
    assert isinstance(result.exception, stiction.Error), result.output
    assert re.search(message, str(result.exception)), str(result.exception)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stiction.StictionWarning")
def test_a_page_of_ten_seconds_of_the_spatula_is_small(tmp_path: Path) -> None:
    page = tmp_path / "out" / "spatula.html"
    scene = find_scene_file("spatula")
    result = run(scene, "--contact-model", "sap", "--duration", "10s", "--html", page)
    assert result.exit_code == 0, result.output
    assert f"page: {page}" in result.output
    text = page.read_text()
    assert len(text) < 10e6
    assert "<title>spatula.xml</title>" in text and "__VISER_EMBED_DATA__" in text
    assert "contact pressure [Pa]" in text and "certificates of 250 steps: all good" in text
    again = run(scene, "--duration", "0.1s", "--html", page, "--json")  # over the older page
    assert json.loads(again.stdout)["page"] == str(page)


def test_a_recording_becomes_a_page(recording: Path, tmp_path: Path) -> None:
    result = run(recording, recording, "--html", tmp_path / "a.html")
    assert result.exit_code == 0, result.output
    assert "certificates of 80 steps" in (tmp_path / "a.html").read_text()


def test_a_damaged_recording_gives_a_warning(recording: Path, tmp_path: Path) -> None:
    recording.write_bytes(recording.read_bytes()[:-3000])
    result = run(recording, "--html", tmp_path / "a.html")
    assert result.exit_code == 0 and "warning: box.mcap: sap: " in result.stderr
    assert "the whole steps before are shown" in result.stderr


def test_wrong_files_and_options_are_refused(
    scene: stiction.Scene, recording: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("<!DOCTYPE html><title>mine</title>")
    other = tmp_path / "text.mcap"
    other.write_text("hello")
    page = ("--html", tmp_path / "new.html")
    expect_error(run(tmp_path / "none.xml", *page), "none.xml: there is no such file")
    expect_error(run(tmp_path / "none.mcap", *page), "none.mcap: there is no such file")
    expect_error(run(other, *page), "text.mcap: is not an MCAP file")
    expect_usage(run(recording, scene.path, *page), "box.xml is not a recording, and a page shows")
    expect_usage(run(scene.path, scene.path, *page), "is a second scene")
    expect_usage(
        run(recording, "--contact-model", "sap", *page), "--contact-model: a recording shows"
    )
    ignored = (
        "--time-step",
        "0.001",
        "--controls",
        "random",
        "--seed",
        "3",
        "--set",
        "gap_correction=0.1",
    )
    expect_usage(
        run(recording, *ignored, *page),
        "--time-step, --controls, --seed, --set: a recording shows the run that was made",
    )
    expect_usage(run(scene.path, "--html", tmp_path), "is a directory")
    # Python refuses the last three itself, before it asks for an address.
    for host in ("nosuch.invalid", "8.8.8.8", "a..b", 80 * "a", ".invalid"):
        expect_usage(run(scene.path, "--host", host), f"'{host}' is not an address of this machine")
    expect_error(run(scene.path, "--html", mine), "exists and is not a page of the viewer")
    assert "mine" in mine.read_text()
    seven = [text for name in 7 * ["sap"] for text in ("--contact-model", name)]
    expect_usage(run(scene.path, *seven, *page), "a page shows at most 6 runs, and 7 are given")
    assert not (tmp_path / "new.html").exists()


def test_a_page_that_cannot_be_written_fails_before_the_run(
    scene: stiction.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stiction.view.film.film_sessions", lambda *_, **__: pytest.fail("it ran"))
    expect_error(run(scene.path, "--html", "/proc/x.html"), "cannot be written: .*another place")


def test_the_page_has_the_chosen_laws(scene: stiction.Scene, tmp_path: Path) -> None:
    """sap has friction of its own, and refuses 'elastic'."""
    models = ("--contact-model", "coulomb", "--contact-model", "sap")
    page = ("--duration", "0.1s", "--html", tmp_path / "a.html")
    laws = ("--friction-law", "elastic", "--tolerance", "1e-8")
    result = run(scene.path, *models, *page, *laws)
    assert result.exit_code == 0, result.output
    opened: list[dict[str, object]] = []

    class Spy(Simulation):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            opened.append(self.simulator.options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stiction.view.simulation.Simulation", Spy)
        run(scene.path, *models, *page, *laws)
    assert [options["friction_law"] for options in opened] == ["elastic", "soft"]
    assert [options["tolerance"] for options in opened] == [1e-8, 1e-8]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, scene: stiction.Scene) -> None:
    monkeypatch.setattr("stiction.view.readers.find_missing", lambda: ["mjviser"])
    expect_error(
        run(scene.path), r"mjviser, which is not installed; run pip install 'stiction\[view"
    )


def test_a_failed_step_fails_the_command(scene: stiction.Scene, tmp_path: Path) -> None:
    page = tmp_path / "failed.html"
    result = run(scene.path, "--set", "max_seconds=1e-9", "--html", page)
    assert result.return_value == 1, result.output
    assert "certificates of 1 steps: 1 failed" in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_the_server_runs_until_a_signal(
    number: signal.Signals, code: int, scene: stiction.Scene
) -> None:
    command = [sys.executable, "-m", "stiction", "view", str(scene.path), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    line = process.stdout.readline()
    found = re.match(r"view: (http://127\.0\.0\.1:\d+) ", line)
    assert found, line
    with urllib.request.urlopen(found[1]) as answer:
        assert b"<title>" in answer.read()
    port = found[1].rpartition(":")[2]
    second = subprocess.run([*command[:-1], port], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert f"port: {port} is in use" in second.stderr
    process.send_signal(number)
    output, errors = process.communicate(timeout=20)
    assert (process.returncode, output, errors) == (code, "", "")


@pytest.mark.parametrize(("host", "warns"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_a_server_for_the_network_says_who_can_control_it(
    host: str, warns: bool, scene: stiction.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = iter([True, False])  # Ctrl-C ends the server, and is not raised again
    monkeypatch.setattr("stiction.commands.view.DeferredInterrupt.take", lambda _: next(stops))
    result = run(scene.path, "--host", host, "--port", "0")
    assert result.exit_code == 0 and re.match(r"view: http://\S+ ", result.stdout), result.output
    warning = (
        f"--host {host}: everyone who reaches this machine through the network can see and control"
    )
    assert (warning in result.stderr.replace("\n", " ")) is warns


@pytest.mark.slow
def test_compare_writes_a_replay_beside_its_report(
    scene: stiction.Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ("--contact-model", "sap", "--contact-model", "coulomb")
    arguments = ["compare", str(scene.path), *models, "--duration", "0.2s", "--json"]
    arguments += ["--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    figures = json.loads(result.stdout)
    assert figures["replay"] == str(tmp_path / "box_replay.html")
    assert "certificates of 40 steps" in Path(figures["replay"]).read_text()
    assert 'href="box_replay.html"' in (tmp_path / "box.html").read_text()
    # A report without a replay has none of an earlier comparison beside it.
    monkeypatch.setattr("stiction.commands.compare.can_view", lambda: False)
    result = CliRunner().invoke(app, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    assert json.loads(result.stdout)["replay"] is None
    assert not (tmp_path / "box_replay.html").exists()


@pytest.mark.slow
def test_compare_draws_the_patches_of_each_model(scene: stiction.Scene, tmp_path: Path) -> None:
    models = ("--contact-model", "sap", "--contact-model", "coulomb")
    arguments = ["compare", "spatula", *models, "--duration", "0.2s", "--json"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)], standalone_mode=False)
    assert result.exception is None, result.output
    stills = tmp_path / "spatula_patches.png"
    assert json.loads(result.stdout)["stills"] == str(stills)
    with Image.open(stills) as picture:
        # Each model has a panel of 4.4 inches at 120 dots per inch, beside the scale.
        assert picture.width == pytest.approx((2 * 4.4 + 0.6) * 120, abs=2)
        greens = np.asarray(picture.convert("RGB"), int)
    viridis = color_pressures(np.linspace(0.3, 0.7, 50), 1.0) * 255
    for half in (greens[:, : picture.width // 2], greens[:, picture.width // 2 : -200]):
        near = np.abs(half.reshape(-1, 1, 3) - viridis[None]).max(axis=2).min(axis=1) < 6
        assert near.sum() > 100
    # A run without a patch leaves no picture of another run beside its report.
    other = ["compare", "spatula", "--contact-model", "no_slip", "--duration", "0.01s", "--json"]
    result = CliRunner().invoke(app, [*other, "--out", str(tmp_path)], standalone_mode=False)
    assert result.exception is None, result.output
    assert json.loads(result.stdout)["stills"] is None and not stills.exists()
    # Without pressure fields there is nothing to draw.
    arguments = ["compare", "pinch", "--contact-model", "sap", "--duration", "0.1s", "--json"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)], standalone_mode=False)
    assert json.loads(result.stdout)["stills"] is None
    assert not (tmp_path / "pinch_patches.png").exists()
