"""Tests the artifacts of contact models: formulas, the block that measures them, and whole scenes.

The block glides, presses and is held; each entry of Table I of [castro2023] must be what it shows.
"""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.analysis.artifacts import budget
from stiction.analysis.artifacts.budget import ArtifactLog, find_properties
from stiction.analysis.artifacts.predictions import (
    Artifacts,
    OperatingPoint,
    PairProperties,
    describe_stiffening,
    predict_artifacts,
)
from stiction.analysis.artifacts.probe import (
    MeasuredArtifacts,
    estimate_operating_point,
    measure_artifacts,
)

COMPLIANT = ("sap", "lagged", "lagged_regularized", "similar", "tamsi", "coulomb")
RIGID = ("no_slip", "stewart_trinkle", "anitescu_potra", "drumwright_shell", "rigid_coulomb")
PAIRS = {
    "near-rigid": PairProperties(0.5, math.inf, 50.0, 0.02),
    "soft": PairProperties(1.0, 1e4, 10.0, 0.001),
    "elastic": PairProperties(0.3, 1e5, 0.0, 0.0),
}
POINTS = {"slow": OperatingPoint(0.05, 30.0, 0.1, 0.7), "fast": OperatingPoint(1.0, 9.81, 1.0, 0.3)}
FLOOR = '<geom name="floor" type="plane" size="9 9 1"/>'
BOX = (
    '<body name="box" pos="0 0 {z}"><freejoint/>'
    '<geom name="box" type="box" size=".05 .05 .05" mass="1"/></body>'
)


def make_options(contact_model: str, **options: Any) -> dict[str, Any]:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    law = {"friction_law": "soft", **options}  # springs have no artifacts
    return stiction.Simulator(model, contact_model, time_step=0.002, **law).options


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("contact_model", COMPLIANT)
def test_the_block_shows_what_table_1_says(contact_model: str, pair: str, point: str) -> None:
    options, at, properties = make_options(contact_model), POINTS[point], PAIRS[pair]
    predicted = predict_artifacts(options, properties, at)
    measured = measure_artifacts(options, properties, at)
    assert measured.gliding_gap == pytest.approx(predicted.gliding_gap, rel=1e-5, abs=1e-12)
    assert measured.stiffness_factor == pytest.approx(predicted.stiffness_factor, rel=1e-5)
    assert measured.stiffness == pytest.approx(predicted.stiffness, rel=1e-5)
    # The dissipation is the small change of a force, of which the gap takes its own error.
    assert measured.dissipation == pytest.approx(predicted.dissipation, rel=0.01, abs=1e-6)
    assert measured.dissipation_lost == pytest.approx(predicted.dissipation_lost, abs=1e-2)
    assert measured.transition_speed == pytest.approx(predicted.transition_speed, rel=1e-5)
    assert measured.creep == pytest.approx(predicted.creep, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("time_step", [0.002, 0.04])
@pytest.mark.parametrize("slip_speed", [1e-4, 3e-4])
@pytest.mark.parametrize("contact_model", COMPLIANT)
def test_the_block_glides_as_slowly_as_contacts_slip(
    contact_model: str, slip_speed: float, time_step: float
) -> None:
    """In long steps of a light body, friction takes nearly all of the speed of a step."""
    options = {**make_options(contact_model), "time_step": time_step}
    at = OperatingPoint(slip_speed, 0.19, 10.8, 0.4)
    measured = measure_artifacts(options, PAIRS["soft"], at)
    predicted = predict_artifacts(options, PAIRS["soft"], at)
    assert measured.gliding_gap == pytest.approx(predicted.gliding_gap, rel=1e-6, abs=1e-14)
    assert measured.stiffness == pytest.approx(predicted.stiffness, rel=1e-6)
    assert measured.dissipation == pytest.approx(predicted.dissipation, rel=1e-3)
    assert measured.not_measured == ""


def test_artifacts_that_cannot_be_measured_have_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "box.xml"
    path.write_text(f"<mujoco><worldbody>{FLOOR}{BOX.format(z=0.049)}</worldbody></mujoco>")
    scene = stiction.load_scene(path)
    simulator, data = scene.make_simulator("coulomb"), scene.make_data()
    log = ArtifactLog(simulator)
    log.add(simulator.step(data))
    assert log.calc_budgets()[0].note is None
    monkeypatch.setattr("stiction.analysis.artifacts.probe._MAX_STEPS", 1)
    (pair,) = log.calc_budgets()
    assert pair.note is not None
    assert "gliding gap, stiffness factor, stiffness, dissipation" in pair.note
    assert "could not be measured: in 1 steps the block did not come to rest" in pair.note
    assert pair.describe().startswith("floor and box: ")
    monkeypatch.undo()
    (pair,) = log.calc_budgets(max_seconds=0)
    assert "a step of the block failed: block: takes longer than the run" in str(pair.note)

    def fail(*_: Any) -> None:
        raise stiction.Error("step_failed", "step", "did not converge")

    monkeypatch.setattr("stiction.analysis.artifacts.probe._measure", fail)
    assert "a step of the block failed: step: did not converge" in str(log.calc_budgets()[0].note)
    (pair,) = log.calc_budgets(measures=False)
    assert pair.note is None


@pytest.mark.parametrize("contact_model", RIGID)
def test_rigid_models_neither_glide_nor_creep(contact_model: str) -> None:
    options = make_options(contact_model)
    measured = measure_artifacts(options, PAIRS["near-rigid"], POINTS["slow"])
    predicted = predict_artifacts(options, PAIRS["near-rigid"], POINTS["slow"])
    assert predicted == Artifacts(gliding_gap=0.0, transition_speed=0.0, creep=0.0)
    assert measured.creep == pytest.approx(0, abs=1e-12)
    # drumwright_shell rests where its correction of overlaps ends.
    assert measured.gliding_gap == pytest.approx(0, abs=1e-8)


def test_viscous_friction_has_no_stiction() -> None:
    options = make_options("viscous")
    for find in (predict_artifacts, measure_artifacts):
        found = find(options, PAIRS["near-rigid"], POINTS["slow"])
        assert found.creep is None and found.transition_speed is None
        assert found.gliding_gap == pytest.approx(0, abs=1e-12)


def test_nothing_is_said_of_mujoco() -> None:
    options = make_options("mujoco")
    assert predict_artifacts(options, PAIRS["soft"], POINTS["slow"]) == Artifacts()
    assert measure_artifacts(options, PAIRS["soft"], POINTS["slow"]) == MeasuredArtifacts()


def test_similar_with_the_linear_law_glides_as_sap_does() -> None:
    options = make_options("similar", normal_law="linear")
    at, pair = POINTS["fast"], PAIRS["near-rigid"]
    predicted, measured = predict_artifacts(options, pair, at), measure_artifacts(options, pair, at)
    # At 1 m/s the soft norm is smaller than the slip by the slip tolerance of 1e-4 m/s.
    assert predicted.gliding_gap == pytest.approx(0.5 * (0.002 + 0.02) * 0.9999, rel=1e-7)
    assert predicted.stiffness_factor == 1 and predicted.dissipation == 0.02
    assert measured.gliding_gap == pytest.approx(predicted.gliding_gap, rel=1e-5)
    assert measured.dissipation == pytest.approx(0.02, rel=1e-4)


@pytest.mark.parametrize("speed", [0.1, 1.0])
def test_similar_stiffens_a_table_by_the_slope_of_its_factor(speed: float) -> None:
    law = stiction.NormalLaw([0, 100], penetration=[0, 0.01], factor=[0, 1, 6], rate=[-0.2, 0, 1])
    options = make_options("similar", normal_law=law)
    pair, at = PairProperties(1.0, 1e4, 0.0, 0.0), OperatingPoint(speed, 9.81, 1.0)
    predicted = predict_artifacts(options, pair, at)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 0"/><default><geom friction="1"/></default><worldbody>{FLOOR}'
        '<body><freejoint/><geom size=".1" mass="1000"/></body></worldbody></mujoco>'
    )
    simulator = stiction.Simulator(
        model, "similar", time_step=1e-6, normal_law=law, tolerance=1e-10
    )
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[0], data.qvel[2] = 0.1, speed, -1
    forces = [simulator.step(data).contacts.normal_impulse[0] / 1e-6 for _ in range(200)]
    stiffness = (forces[-1] - forces[99]) / 1e-4
    # The ball hardly slows down, and D(1 m/s) adds 5 to what the slip does.
    assert stiffness / 1e4 == pytest.approx(predicted.stiffness_factor + 5, rel=2e-3)


@pytest.mark.parametrize("friction_law", ["quadratic", "arctan"])
def test_creep_follows_the_friction_law(friction_law: str) -> None:
    options = make_options("lagged", friction_law=friction_law)
    at, pair = POINTS["fast"], PAIRS["soft"]
    predicted, measured = predict_artifacts(options, pair, at), measure_artifacts(options, pair, at)
    assert measured.creep == pytest.approx(predicted.creep, rel=1e-5)
    assert measured.transition_speed == pytest.approx(1e-4, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("slip_speed", [3e-5, 3e-4])
@pytest.mark.parametrize(
    "friction_law", ["soft", "quadratic", "arctan", {"slip": [0, 0.5, 2], "friction": [0, 0.7, 1]}]
)
def test_similar_glides_by_the_soft_norm_of_its_friction_law(
    friction_law: Any, slip_speed: float
) -> None:
    """Below and above the slip tolerance of 1e-4 m/s, with d = 100 s/m, so that slip also stiffens."""
    law = friction_law if isinstance(friction_law, str) else stiction.FrictionLaw(**friction_law)
    options = make_options("similar", friction_law=law)
    pair, at = PairProperties(1.0, 1e4, 100.0, 0.0), OperatingPoint(slip_speed, 9.81, 1.0)
    predicted, measured = predict_artifacts(options, pair, at), measure_artifacts(options, pair, at)
    assert predicted.gliding_gap < 0.9 * 0.002 * slip_speed
    # The block sinks by 1 mm, and comes to rest to a few parts in 1e9.
    assert measured.gliding_gap == pytest.approx(predicted.gliding_gap, rel=1e-5, abs=5e-12)
    stiffening = predicted.stiffness_factor - 1
    assert stiffening == pytest.approx(100.0 * predicted.gliding_gap / 0.002, rel=1e-9)
    assert measured.stiffness_factor - 1 == pytest.approx(stiffening, rel=1e-3, abs=1e-7)


@pytest.mark.slow
def test_sap_does_not_glide_while_it_sticks() -> None:
    options, pair = make_options("sap"), PAIRS["soft"]
    speed = predict_artifacts(options, pair, POINTS["fast"]).transition_speed
    at = dataclasses.replace(POINTS["fast"], slip_speed=0.5 * speed)
    predicted, measured = predict_artifacts(options, pair, at), measure_artifacts(options, pair, at)
    assert (predicted.gliding_gap, predicted.stiffness_factor) == (0, 1)
    assert measured.gliding_gap == pytest.approx(0, abs=1e-3 * 1.0 * 0.002 * at.slip_speed)
    assert measured.stiffness_factor == pytest.approx(1, rel=1e-6)


def test_sap_without_its_limit_has_the_given_stiffness() -> None:
    at, pair = POINTS["fast"], PairProperties(0.5, 1e7, 0.0, 0.02)
    limited = predict_artifacts(make_options("sap"), pair, at).stiffness
    assert limited == pytest.approx(
        4 * math.pi**2 / (1.0 * 0.002 * 0.022) / (1 + 0.25e-3 * 4 * math.pi**2)
    )
    options = make_options("sap", near_rigid_factor=0)
    predicted, measured = predict_artifacts(options, pair, at), measure_artifacts(options, pair, at)
    assert predicted.stiffness == pytest.approx(1e7 * predicted.stiffness_factor)
    assert measured.stiffness == pytest.approx(predicted.stiffness, rel=1e-6)


def test_contacts_at_rest_have_their_own_stiffness() -> None:
    at = dataclasses.replace(POINTS["fast"], slip_speed=0.0)
    for contact_model in ("sap", "similar"):
        options = make_options(contact_model)
        predicted = predict_artifacts(options, PAIRS["near-rigid"], at)
        assert (predicted.gliding_gap, predicted.stiffness_factor) == (0, 1)
        measured = measure_artifacts(options, PAIRS["near-rigid"], at)
        assert measured.stiffness == pytest.approx(predicted.stiffness, rel=1e-6)


def test_stiffening_is_said_where_it_matters() -> None:
    options, pair = make_options("similar"), PAIRS["near-rigid"]
    text = describe_stiffening(options, pair, 1.0)
    assert text is not None and "26 times as stiff" in text and "use 'coulomb'" in text
    assert describe_stiffening(options, pair, 0.001) is None
    assert describe_stiffening(make_options("coulomb"), pair, 1.0) is None
    assert describe_stiffening(make_options("no_slip"), pair, 1.0) is None


@pytest.mark.parametrize(("contact_model", "gap"), [("similar", 0.002), ("sap", 0.022)])
def test_a_box_that_slides_has_the_predicted_gap(contact_model: str, gap: float) -> None:
    xml = f'<mujoco><option timestep="0.002"/><worldbody>{FLOOR}{BOX.format(z=0.05)}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, contact_model)
    log = ArtifactLog(simulator)
    for _ in range(400):
        data.qvel[0] = 0.2  # the box slides at a constant speed
        data.qvel[3:] = 0  # and does not tip
        report = simulator.step(data)
        if data.time > 0.4:
            log.add(report)
    (budget,) = log.calc_budgets()
    assert budget.geoms == ("floor", "box")
    assert budget.at.slip_speed == pytest.approx(0.2, rel=0.15)  # friction slows it in each step
    slip = budget.at.slip_speed
    if contact_model == "similar":
        slip = math.hypot(slip, 1e-4) - 1e-4  # the soft norm
    assert budget.predicted.gliding_gap == pytest.approx(gap * slip, rel=1e-9)
    assert budget.gap_in_run == pytest.approx(budget.predicted.gliding_gap, rel=0.02)
    assert budget.measured.gliding_gap == pytest.approx(budget.predicted.gliding_gap, rel=1e-5)


def test_a_box_that_slides_near_the_slip_tolerance_has_the_predicted_gap() -> None:
    """A belt moves at 2.5e-4 m/s under a box that a stiff damper holds, with v_s = 1e-4 m/s."""
    xml = (
        '<mujoco><option timestep="0.01" gravity="0 0 -9.81"/><worldbody>'
        '<body name="belt"><joint name="belt" type="slide" axis="1 0 0" damping="1e9"/>'
        '<geom name="belt" type="box" size="9 9 .1" pos="0 0 -.1" mass="1"/></body>'
        '<body name="box" pos="0 0 .05"><joint type="slide" axis="1 0 0" damping="1e9"/>'
        '<joint type="slide" axis="0 0 1"/>'
        '<geom name="box" type="box" size=".05 .05 .05" mass="1"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    surface = {"stiffness": 2e5, "dissipation": 10.0, "friction": 1.0}
    simulator = stiction.Simulator(
        model, "similar", properties={"materials": {"all": surface}, "geoms": {"*": "all"}}
    )
    log = ArtifactLog(simulator)
    for _ in range(300):
        data.qfrc_applied[0] = 1e9 * 2.5e-4
        report = simulator.step(data)
        if data.time > 2:
            log.add(report)
    (budget,) = log.calc_budgets()
    slip = budget.at.slip_speed
    assert slip == pytest.approx(2.5e-4, rel=1e-3)
    soft = math.hypot(slip, 1e-4) - 1e-4
    assert budget.predicted.gliding_gap == pytest.approx(0.01 * soft, rel=1e-9)
    assert budget.gap_in_run == pytest.approx(budget.predicted.gliding_gap, rel=1e-3)
    assert budget.measured.gliding_gap == pytest.approx(budget.predicted.gliding_gap, rel=1e-5)


def test_a_budget_of_contacts_at_rest_has_their_creep() -> None:
    tilt = math.tan(0.1)
    xml = (
        f'<mujoco><option timestep="0.002" gravity="{9.81 * tilt} 0 -9.81"/><worldbody>'
        f"{FLOOR}{BOX.format(z=0.05)}</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, "lagged")
    log = ArtifactLog(simulator)
    for _ in range(500):
        report = simulator.step(data)
        if data.time > 0.5:
            log.add(report)
    (budget,) = log.calc_budgets(measures=False)
    assert budget.at.slip_speed == 0 and budget.gap_in_run is None
    assert budget.at.load_share == pytest.approx(tilt, rel=1e-3)
    assert budget.creep_in_run == pytest.approx(1e-4 * tilt / math.sqrt(1 - tilt**2), rel=1e-3)
    assert budget.predicted.creep == pytest.approx(budget.creep_in_run, rel=1e-3)
    assert budget.measured == MeasuredArtifacts()


def test_the_estimated_mobility_is_that_of_the_step() -> None:
    xml = (
        f'<mujoco><worldbody>{FLOOR}<body pos="0 0 .05"><freejoint/>'
        '<geom name="ball" size=".05" mass="2"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(xml)
    at = estimate_operating_point(model, 0, 1, slip_speed=0.1)
    assert at.normal_force == pytest.approx(2 * 9.81)
    # The estimate leaves out the rotation, which adds 2.5 / m in both tangents of a ball.
    report = stiction.Simulator(model).forward(mujoco.MjData(model))
    expected = np.linalg.norm([3.5, 3.5, 1.0]) / 2 / 3
    assert report.contacts.delassus[0] == pytest.approx(expected, rel=1e-6)
    assert at.mobility == pytest.approx(math.sqrt(3) / 2 / 3)


def test_properties_come_from_the_explanation() -> None:
    scene = stiction.load_scene("scenes/pinch.xml")
    explanation = scene.make_simulator("similar").explain("cube", "floor")
    pair = find_properties(explanation)
    assert pair == PairProperties(0.7, math.inf, 50.0, 0.0)
    assert find_properties(scene.make_simulator("sap").explain("cube", "floor")) == PairProperties(
        0.7, math.inf, 0.0, 0.02
    )


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from stiction.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_explain_compare_and_run_have_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "slide.xml"
    body = BOX.format(z=0.05)
    keys = '<keyframe><key qvel="2 0 0 0 0 0"/></keyframe>'
    path.write_text(f"<mujoco><worldbody>{FLOOR}{body}</worldbody>{keys}</mujoco>")
    explained = run(
        "explain", str(path), "box", "floor", "--contact-model", "similar", "--slip", "1"
    )
    assert "stiffness factor" in explained.stdout and "51" in explained.stdout
    assert "51 times as stiff" in explained.stdout
    budget = json.loads(
        run("explain", str(path), "box", "floor", "--contact-model", "sap", "--json").stdout
    )["artifacts"]
    assert budget["predicted"]["gliding_gap"] == pytest.approx(0.1 * 0.022)
    assert budget["measured"]["gliding_gap"] == pytest.approx(0.1 * 0.022)

    ran = json.loads(
        run("run", str(path), "--contact-model", "similar", "--duration", "300ms", "--json").stdout
    )
    (budget,) = ran["artifacts"]
    assert budget["at"]["slip_speed"] > 0.05
    assert any("times as stiff" in text for text in ran["warnings"])

    html = tmp_path / "out.html"
    compared = run(
        "compare", str(path), "--contact-model", "similar", "--contact-model", "mujoco",
        "--duration", "300ms", "--html", str(html), "--json",
    )  # fmt: skip
    rows = json.loads(compared.stdout)["rows"]
    assert rows[0]["artifacts"][0]["predicted"]["gliding_gap"] > 1e-5
    assert any("times as stiff" in note for note in rows[0]["notes"])
    assert "gliding gap" in html.read_text() and "times as stiff" in html.read_text()


def test_contacts_of_unknown_mobility_do_not_lower_its_mean() -> None:
    n = 4
    wide, one = np.zeros((n, 3)), np.ones(n)
    contacts = SimpleNamespace(
        time_step=0.01, normal_impulse=one, distance=one, normal_velocity=one, slip_velocity=wide,
        delassus=np.array([2.0, np.nan, 4.0, np.nan]), slipping=np.zeros(n), impulse=wide, normal=wide,
        friction=one, bodies=np.zeros((n, 2)), geoms=np.zeros((n, 2)), point=wide,
    )  # fmt: skip
    report = SimpleNamespace(contacts=contacts, advance=None)
    sums = budget._Sums()
    rows = budget._Rows(report, np.arange(n), np.inf)  # type: ignore[arg-type]
    rows.add_to(sums, np.ones(n, bool))
    assert sums.mobility / sums.num_mobilities == 3 and sums.num == n
