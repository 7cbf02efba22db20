"""Tests `stiction study` with each study."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from stiction.cli import app
from stiction.evidence.experiments import falling_sphere
from stiction.evidence.studies.falling_sphere import study
from stiction.evidence.studies.study import STUDIES, load_study


def run_study(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["study", *arguments], standalone_mode=False)


# The pancake has its own test, because it needs an arm from another package. `./dev studies` runs all
# in full, and those whose quick run takes a minute only there.
_LONG = ("clutter", "quadruped")


@pytest.mark.parametrize(
    "name",
    [
        name if name == "falling_sphere" else pytest.param(name, marks=pytest.mark.slow)
        for name in STUDIES
        if name not in ("pancake", *_LONG)
    ],
)
def test_quick_study_passes_and_writes_its_plots(name: str, tmp_path: Path) -> None:
    result = run_study(name, "--quick", "--json", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["study"] == name
    assert printed["quick"] is True
    assert printed["passed"] is True
    assert printed["figures"]
    assert len(printed["checks"]) >= 9
    for check in printed["checks"]:
        assert check.keys() == {*("name", "value", "wanted", "passed", "source", "is_known_miss")}
        assert check["wanted"] and check["source"]
    written = json.loads((tmp_path / f"{name}.json").read_text())
    assert written["checks"] == printed["checks"]
    plots = sorted(tmp_path.glob("*.png"))
    assert sorted(printed["plots"]) == [plot.name for plot in plots]
    assert sorted(load_study(name).plots) == [plot.stem for plot in plots]
    for plot in plots:
        assert plot.read_bytes().startswith(b"\x89PNG")
        assert plot.stat().st_size > 10_000


@pytest.mark.slow
def test_a_wrong_expectation_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "ROLLING_TIME", 0.07)  # the value in the paper's text
    arguments = ("falling_sphere", "--quick", "--contact-model", "lagged")
    result = run_study(*arguments, "--out", str(tmp_path))
    assert result.return_value == 1
    assert "FAIL" in result.stdout
    assert "check failed: rolling time at 2 ms, lagged [s]" in result.stderr
    assert not json.loads((tmp_path / "falling_sphere.json").read_text())["passed"]


@pytest.mark.slow
def test_peers_are_compared_with_if_their_files_exist(tmp_path: Path) -> None:
    arguments = ("falling_sphere", "--quick", "--json", "--contact-model", "lagged")
    arguments += ("--peers", str(tmp_path), "--out", str(tmp_path / "out"))
    alone = json.loads(run_study(*arguments).stdout)
    assert any("not compared" in note for note in alone["notes"])
    assert "peer_reference" not in alone["figures"]

    # Write a peer's trajectory that is off by a centimeter.
    time = np.arange(0, 0.3 + 1e-9, 4e-5)
    x, z, _ = falling_sphere.calc_rigid_motion(time).T
    with gzip.open(tmp_path / "sphere_tamsi_ref_4e-6_every10.csv.gz", "wt") as file:
        file.write("t,x,z\n")
        for row in zip(time, x + 0.01, z, strict=True):
            file.write(",".join(map(repr, map(float, row))) + "\n")
    result = run_study(*arguments)
    assert result.return_value == 1
    assert json.loads(result.stdout)["figures"]["peer_reference"] == pytest.approx(0.01, rel=1e-3)


def test_a_misspelt_study_gives_a_suggestion() -> None:
    result = CliRunner().invoke(app, ["study", "conveyer"])
    assert result.exit_code == 2
    assert "did you mean 'conveyor'" in result.stderr
