"""stiction.set_default: which Simulators take the chosen defaults, and which results ignore them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction
from stiction.compare import compare_models
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.setup.defaults import get_chosen_defaults
from stiction.setup.options import DEFAULTS

SCENE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(SCENE)


@pytest.fixture
def scene(tmp_path: Path) -> stiction.Scene:
    path = tmp_path / "box.xml"
    path.write_text(SCENE)
    return stiction.load_scene(path)


@pytest.fixture(autouse=True)
def nothing_remains() -> Iterator[None]:
    yield
    assert get_chosen_defaults() == {}, "a test did not restore its defaults"


def test_a_simulator_takes_the_defaults_that_it_is_not_given(model, scene):
    with stiction.set_default("sap", tolerance=1e-7):
        assert stiction.Simulator(model).contact_model == "sap"
        assert scene.make_simulator().contact_model == "sap"
        simulator = stiction.Simulator(model, "lagged", max_iterations=7)
        assert simulator.contact_model == "lagged"
        assert simulator.options["tolerance"] == 1e-7
        assert simulator.options["max_iterations"] == 7
        assert stiction.get_default() == {**DEFAULTS, "contact_model": "sap", "tolerance": 1e-7}
    assert stiction.Simulator(model).contact_model == DEFAULTS["contact_model"]
    assert stiction.get_default() == DEFAULTS


def test_defaults_hold_until_restore_if_there_is_no_block(model):
    chosen = stiction.set_default(on_failure="stop")
    assert stiction.Simulator(model).on_failure == "stop"
    assert repr(chosen) == "<stiction defaults: on_failure='stop'>"
    chosen.restore()
    chosen.restore()  # does nothing
    assert stiction.Simulator(model).on_failure == "raise"
    assert repr(chosen) == "<stiction defaults: on_failure='stop', restored>"


def test_restored_defaults_cannot_be_entered():
    chosen = stiction.set_default("sap")
    chosen.restore()
    with (
        pytest.raises(
            stiction.Error, match=r"has been restored.* call stiction\.set_default again"
        ),
        chosen,
    ):
        pass


def test_an_exception_restores_the_defaults():
    with pytest.raises(ZeroDivisionError), stiction.set_default("sap"):
        _ = 1 / 0
    assert stiction.get_default() == DEFAULTS


def test_the_latest_active_call_decides_in_any_order_of_restore():
    first = stiction.set_default("sap", tolerance=1e-7)
    second = stiction.set_default("tamsi")
    assert stiction.get_default()["contact_model"] == "tamsi"
    assert stiction.get_default()["tolerance"] == 1e-7
    first.restore()
    assert stiction.get_default()["contact_model"] == "tamsi"
    assert stiction.get_default()["tolerance"] == DEFAULTS["tolerance"]
    second.restore()
    assert stiction.get_default() == DEFAULTS


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": -1},
        {"tolerance": "small"},
        {"contact_model": "sapp"},
        {"contact_model": None},
        {"time_step": 0},
        {"on_failure": "explode"},
        {"normal_law": {"law": "sprin"}},
    ],
)
def test_a_bad_value_has_the_error_of_a_simulator_and_changes_nothing(model, options):
    with pytest.raises(stiction.Error) as of_simulator:
        stiction.Simulator(model, **options)
    with pytest.raises(stiction.Error) as of_default:
        stiction.set_default(**options)
    assert str(of_default.value) == str(of_simulator.value)
    assert of_default.value.code == of_simulator.value.code
    assert stiction.get_default() == DEFAULTS


def test_an_unknown_option_is_refused_with_a_suggestion():
    with pytest.raises(TypeError, match=r"no option 'tolerence' \(did you mean 'tolerance'\?\)"):
        stiction.set_default(tolerence=1e-3)  # type: ignore[call-arg]


def test_defaults_hold_in_all_threads(model):
    found: list[str] = []
    with stiction.set_default("sap"):
        thread = threading.Thread(
            target=lambda: found.append(stiction.Simulator(model).contact_model)
        )
        thread.start()
        thread.join()
    assert found == ["sap"]


def test_a_simulator_and_its_copy_keep_their_options(model):
    simulator = stiction.Simulator(model)
    with stiction.set_default("sap", tolerance=1e-7):
        assert copy.copy(simulator).options == simulator.options
        made_within = stiction.Simulator(model)
    assert simulator.contact_model == DEFAULTS["contact_model"]
    assert copy.copy(made_within).options == made_within.options
    assert made_within.contact_model == "sap"


def test_a_default_without_effect_warns_as_a_given_one(model):
    with (
        stiction.set_default(lcp_solver="lemke"),
        pytest.warns(stiction.IgnoredSettingWarning, match="lcp_solver"),
    ):
        stiction.Simulator(model, "sap")


def record(scene: stiction.Scene, path: Path) -> np.ndarray:
    """Records 20 steps of a Simulator with the present defaults; returns the last positions."""
    simulator, data = scene.make_simulator(), scene.make_data()
    data.qvel[0] = 1
    with stiction.Recorder(path, simulator) as recorder:
        for _ in range(20):
            recorder.step(data)
    return data.qpos.copy()


def test_a_recording_has_the_real_options_and_replays_under_other_defaults(scene, tmp_path):
    path = tmp_path / "sap.mcap"
    with stiction.set_default("sap", tolerance=1e-7):
        end = record(scene, path)
    options = stiction.Recording(path).options
    assert options["contact_model"] == "sap"
    assert options["tolerance"] == 1e-7
    with stiction.set_default("tamsi", stiction_tolerance=1e-2):
        recording = stiction.Recording(path)
        assert recording.make_simulator().options == options
        replay = stiction.Replay(recording)
        assert all(step.find_difference() is None for step in replay)
        np.testing.assert_array_equal(recording.make_data(20).qpos, end)


def test_an_option_that_a_recording_lacks_has_its_builtin_default(scene, tmp_path):
    path = tmp_path / "old.mcap"
    record(scene, path)
    recording = stiction.Recording(path)
    del recording.options["max_iterations"]  # as if the option were younger than the recording
    with stiction.set_default(max_iterations=3):
        options = recording.make_simulator().options
    assert options["max_iterations"] == DEFAULTS["max_iterations"]


def test_a_comparison_ignores_the_defaults(scene):
    def compare() -> list[float]:
        (trace,) = compare_models(scene, ["sap"], duration=0.05).traces
        return list(trace["depth"])

    def calc_depth() -> float:
        data = scene.make_data()
        scene.make_simulator("sap").step(data, 25)
        return float(0.1 - data.qpos[2])

    depths, depth = compare(), calc_depth()
    with stiction.set_default(near_rigid_factor=0.1):
        assert compare() == depths
        assert calc_depth() < 0.5 * depth  # the default does change a Simulator's results


def test_a_study_ignores_the_defaults(model):
    def run(settings: Settings) -> StudyResult:
        return StudyResult(figures={"model": stiction.Simulator(model).contact_model})

    study = Study("name", "title", run, ())
    with stiction.set_default("sap"):
        result = study.run(Settings(quick=True, contact_models=()))
    assert result.figures == {"model": DEFAULTS["contact_model"]}
