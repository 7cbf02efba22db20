"""Tests the claims of the notebook on a model of one's own: the force of a grip, and creep."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stiction.analysis.grasp import measure_grasp

PAGE = (Path(__file__).parents[3] / "docs/tutorial/own_model.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    """Returns the names of the first cell, which has the model."""
    first = re.search(r"```\{code-cell\} python\n(.*?)```", PAGE, re.DOTALL)
    assert first
    names: dict[str, Any] = {}
    exec(first[1], names)
    return names


@pytest.mark.slow
def test_the_grip_needs_the_force_that_the_text_derives(notebook: dict[str, Any]) -> None:
    weight, needed = 0.35 * 9.81, 0.35 * 9.81 / (2 * 0.6)
    assert f"weighs {weight:.2f} N" in PAGE and f"So {needed:.2f} N would just do" in PAGE
    for force, status in ((0.95 * needed, "dropped"), (1.05 * needed, "held")):
        (row,) = measure_grasp(notebook["load"](force), "bottle", ["coulomb"]).rows
        assert row.status == status
    assert row.slip_margin == pytest.approx(1 - 1 / 1.05, abs=0.02)


@pytest.mark.slow
def test_the_default_creeps_and_elastic_does_not(notebook: dict[str, Any]) -> None:
    scene = notebook["load"](4)
    speeds = {
        law: measure_grasp(scene, "bottle", ["coulomb"], friction_law=law).rows[0].creep_measured
        for law in ("soft", "elastic")
    }
    assert 5e-5 < speeds["soft"] < 2e-4
    assert abs(speeds["elastic"]) < 1e-9
