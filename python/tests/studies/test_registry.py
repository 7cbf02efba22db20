"""Tests the list of studies."""

from __future__ import annotations

from pathlib import Path

import pytest

import stiction.evidence.studies
from stiction.errors import Error
from stiction.evidence.studies.study import STUDIES, load_study


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_its_name_in_the_list(name: str) -> None:
    assert load_study(name).name == name


def test_every_study_is_listed() -> None:
    folder = Path(stiction.evidence.studies.__file__).parent
    assert {path.parent.name for path in folder.glob("*/study.py")} == set(STUDIES)


def test_a_misspelt_study_is_not_imported() -> None:
    with pytest.raises(Error, match="there is no 'conveyer' .did you mean 'conveyor'"):
        load_study("conveyer")
