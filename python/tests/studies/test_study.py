"""Tests the files of a study's result."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from stiction.errors import Error
from stiction.evidence.studies.study import (
    Settings,
    Study,
    StudyResult,
    describe_result,
    write_result,
)


def test_results_are_written_as_plain_json(tmp_path: Path) -> None:
    study = Study("conveyor", "a title", lambda settings: StudyResult(), plots=())
    result = StudyResult(figures={"rms": {2e-3: math.nan}})
    result.checks.at_most("a", 1.0, 2.0, "s")
    description = describe_result(study, Settings(True, ("lagged",)), result)
    path = write_result(description, result, tmp_path / "a" / "b")
    read = json.loads(path.read_text())
    assert read["figures"] == {"rms": {"0.002": None}}
    assert read["passed"] is True
    with pytest.raises(Error, match="cannot be written"):
        write_result(description, result, path / "below_a_file")
