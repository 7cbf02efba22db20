"""Tests the part of the study of held bodies that runs Drake."""

from __future__ import annotations

import math
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from stiction.options import DEFAULTS
from stiction.studies.held import drake, scenes
from stiction.studies.held import study as held
from stiction.studies.held.plots import draw_creep
from stiction.studies.held.scenes import HeldScene
from stiction.studies.study import Settings, StudyResult

SETTINGS = Settings(quick=True, contact_models=("lagged",))


def test_without_drake_the_result_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drake, "is_installed", lambda: False)
    result = StudyResult()
    creep: dict[str, dict[str, float | None]] = {"cube": {}, "stack": {}}
    held._add_drake(creep, result, SETTINGS)
    assert creep == {"cube": {}, "stack": {}}
    assert result.notes == [
        "not compared with Drake, which is not installed; run pip install drake"
    ]


@pytest.mark.skipif(not drake.is_installed(), reason="Drake is not installed")
def test_drakes_lagged_model_creeps_by_the_slip_tolerance() -> None:
    creep = drake.measure_creep(scenes.make_cube(), "lagged", 2e-3)
    law = DEFAULTS["stiction_tolerance"] * 0.5 / math.sqrt(1 - 0.5**2)
    assert creep == pytest.approx(law, rel=1e-3)


@pytest.mark.skipif(not drake.is_installed(), reason="Drake is not installed")
@pytest.mark.parametrize("make_scene", [scenes.make_cube, scenes.make_stack])
def test_drake_has_the_places_of_the_scene(make_scene: Callable[[], HeldScene]) -> None:
    scene = make_scene()
    at_start = scene.find_place(mujoco.MjData(scene.model))
    built = drake.DrakeScene(scene, "sap", 2e-3)
    assert built.find_place() == pytest.approx(at_start, abs=1e-15)
    # Nothing falls, slides or tips; surfaces yield by 2 mm.
    built.advance(0.1)
    assert built.find_place() == pytest.approx(at_start, abs=3e-3)


@pytest.mark.skipif(not drake.is_installed(), reason="Drake is not installed")
def test_a_failed_solve_gives_no_creep(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: drake.DrakeScene, time: float) -> None:
        raise RuntimeError("failed to converge")

    monkeypatch.setattr(drake.DrakeScene, "advance", fail)
    assert drake.measure_creep(scenes.make_cube(), "sap", 2e-3) is None


def test_the_plot_names_each_variant_once() -> None:
    creep = {"cube": {"lagged": 1e-5, "lagged, elastic": 0.0, "Drake, sap": None}, "wall": {}}
    (axes,) = draw_creep(creep).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(creep["cube"])
    speeds = [float(x) for line in axes.lines for x in np.asarray(line.get_xdata())]
    assert speeds == pytest.approx([1e-5, 1e-18])
