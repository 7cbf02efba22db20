"""Tests the files of a study's result."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stiction.cli import app
from stiction.errors import Error
from stiction.evidence.studies.checks import check_at_most
from stiction.evidence.studies.study import (
    Settings,
    Study,
    StudyResult,
    describe_result,
    write_result,
)


def test_results_are_written_as_plain_json(tmp_path: Path) -> None:
    study = Study("conveyor", "a title", lambda settings: StudyResult(), plots=())
    result = StudyResult(
        figures={"rms": {2e-3: math.nan}}, checks=[check_at_most("a", 1.0, 2.0, "s")]
    )
    description = describe_result(study, Settings(True, ("lagged",)), result)
    path = write_result(description, result, tmp_path / "a" / "b")
    read = json.loads(path.read_text())
    assert read["figures"] == {"rms": {"0.002": None}}
    assert read["passed"] is True
    with pytest.raises(Error, match="cannot be written"):
        write_result(description, result, path / "below_a_file")


def test_the_help_names_the_studies_without_a_paper() -> None:
    """The page of studies says which have none."""
    page = (Path(__file__).parents[3] / "docs" / "studies.md").read_text()
    without = re.findall(r"^\| `(\w+)` \| none;", page, re.MULTILINE)
    assert without
    result = CliRunner().invoke(app, ["study", "--help"])
    text = " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.output).split())
    assert f"The studies {' and '.join(without)} compare with none." in text
