"""Tests the plugins of MuJoCo Studio: with Studio if it can be imported, else with a stand-in.

`pip install mujoco-studio==4.0.0 mujoco-core==4.0.0` in an environment of its own runs them with Studio.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.view.palette import color_pressures

SCENES = Path(__file__).parents[3] / "scenes"


@pytest.fixture(scope="module")
def studio() -> Any:
    """The modules of stiction.studio, on Studio or on its stand-in."""
    path = Path(__file__).with_name("studio_double.py")
    spec = importlib.util.spec_from_file_location("studio_double", path)
    assert spec is not None and spec.loader is not None
    double = importlib.util.module_from_spec(spec)
    sys.modules["studio_double"] = double
    spec.loader.exec_module(double)
    double.install()
    names = ("command", "drawing", "launcher", "panel", "snapshots", "stepper")
    modules = {name: importlib.import_module(f"stiction.studio.{name}") for name in names}
    package = importlib.import_module("stiction.studio")
    own = {name: getattr(package, name) for name in package.__all__}
    stepper = modules["stepper"]
    return types.SimpleNamespace(**modules, **own, messages=stepper.messages, sim=stepper.sim)


class Handle:
    """Studio's handle of the simulation: it keeps what is sent to the viewer."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model, self.sent = model, []  # type: ignore[var-annotated]

    def send_to_viewer(self, message: Any) -> None:
        self.sent.append(message)


class Viewer:
    """Studio's viewer: it keeps what is sent to the simulation."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model, self.sent = model, []  # type: ignore[var-annotated]
        self.vis_options, self.extra_geoms = mujoco.MjvOption(), ["of another plugin"]

    def send_to_sim(self, message: Any) -> None:
        self.sent.append(message)


class ImGui(types.ModuleType):
    """Dear ImGui: it keeps what is shown, and answers as a user who changes what `edits` names."""

    def __init__(self, edits: dict[str, Any]) -> None:
        super().__init__("imgui")
        self.edits, self.lines, self.depth = edits, [], 0  # type: ignore[var-annotated]
        self.colors: list[Any] = []

    def Begin(self, name: str) -> tuple[bool, bool]:  # noqa: N802
        self.depth += 1
        return True, True

    def End(self) -> None:  # noqa: N802
        self.depth -= 1

    def TextUnformatted(self, text: str) -> None:  # noqa: N802
        self.lines.append(text)

    def Combo(self, label: str, index: int, items: list[str]) -> tuple[bool, int]:  # noqa: N802
        self.lines.append(f"{label}: {items[index]}")
        return (True, items.index(self.edits[label])) if label in self.edits else (False, index)

    def InputDouble(self, label: str, value: float, *_: Any) -> tuple[bool, float]:  # noqa: N802
        self.lines.append(label)
        return (True, self.edits[label]) if label in self.edits else (False, value)

    def TextWrapped(self, text: str) -> None:  # noqa: N802
        self.lines.append(text)

    def SliderFloat(self, label: str, value: float, *_: Any) -> tuple[bool, float]:  # noqa: N802
        return (True, self.edits[label]) if label in self.edits else (False, value)

    def ColorButton(self, label: str, color: Any, *_: Any) -> bool:  # noqa: N802
        self.colors.append(color)
        return False

    def GetIO(self) -> Any:  # noqa: N802
        return types.SimpleNamespace(DisplaySize=types.SimpleNamespace(x=1200.0, y=800.0))

    def ignore(self, *_: Any) -> None:
        """What is laid out, but shows nothing."""

    SetNextWindowPos = SetNextWindowSize = PushItemWidth = PopItemWidth = SameLine = ignore

    def Vec2(self, *values: float) -> tuple[float, ...]:  # noqa: N802
        return values

    Vec4 = Vec2

    Cond = types.SimpleNamespace(FirstUseEver=4)
    SliderFlags = types.SimpleNamespace(Logarithmic=32)
    ColorEditFlags = types.SimpleNamespace(NoBorder=1024)

    def Checkbox(self, label: str, value: bool) -> tuple[bool, bool]:  # noqa: N802
        return (True, self.edits[label]) if label in self.edits else (False, value)


def start(studio: Any, name: str, contact_model: str = "coulomb", **options: Any) -> Any:
    """Returns the stepper with a scene, its data, and the handle."""
    scene = stiction.load_scene(SCENES / name)
    data = scene.make_data()
    stepper = studio.StictionStepper(contact_model, **options)
    stepper._handle = Handle(scene.model)
    stepper.on_post_model(studio.messages.PostModelEvent(scene.model, data, str(SCENES / name)))
    return stepper, data, stepper._handle


def test_it_steps_with_stiction_and_consumes_the_event(studio: Any) -> None:
    stepper, data, handle = start(studio, "pinch.xml")
    control = studio.messages.StepControlSnapshot(pause_state=studio.sim.PauseState.NORMAL_PAUSED)
    stepper.on_step_control(control)
    for _ in range(30):
        stepper.on_single_step(studio.messages.SingleStepEvent())
        assert stepper.on_step(studio.messages.StepEvent(data.model, data)) is True
    scene = stiction.load_scene(SCENES / "pinch.xml")
    expected = scene.make_data()
    scene.make_simulator("coulomb").step(expected, 30)
    assert np.array_equal(data.qpos, expected.qpos)
    assert len(handle.sent) == 30
    assert handle.sent[-1].contact_model == "coulomb"
    assert len(handle.sent[-1].point) >= 4


def test_it_keeps_the_pace_of_the_panel(studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stepper, data, _ = start(studio, "pinch.xml")
    stepper.on_step_control(studio.messages.StepControlSnapshot(speed=50.0))
    clock = [0.0]  # a wall clock that does not depend on the machine
    monkeypatch.setattr(studio.stepper.time, "perf_counter", lambda: clock[0])
    for _ in range(50):
        clock[0] += 0.01
        stepper.on_step(studio.messages.StepEvent(data.model, data))
    # Half of real time, without that before the first event.
    assert data.time == pytest.approx(0.5 * 0.49, abs=2 * data.model.opt.timestep)


def test_a_pause_stops_it_and_a_changed_state_is_shown(studio: Any) -> None:
    stepper, data, handle = start(studio, "pinch.xml")
    stepper.on_pause(
        studio.messages.RequestPauseEvent(pause_state=studio.sim.PauseState.NORMAL_PAUSED)
    )
    event = studio.messages.StepEvent(data.model, data)
    stepper.on_step(event)
    assert data.time == 0 and len(handle.sent) == 1  # the contacts of the start
    stepper.on_step(event)
    assert len(handle.sent) == 1
    data.time = 3.0  # as after scrubbing
    stepper.on_step(event)
    assert len(handle.sent) == 2 and data.time == 3.0


def test_settings_change_the_model_and_wrong_ones_are_told(studio: Any) -> None:
    stepper, data, handle = start(studio, "pinch.xml")
    stepper.on_settings(studio.SettingsSnapshot("sap", {"friction_regularization": 1e-2}))
    assert stepper._simulator.contact_model == "sap"
    assert stepper._simulator.options["friction_regularization"] == 1e-2
    stepper.on_settings(studio.SettingsSnapshot("sap", {"tolerance": -1.0}))
    stepper.on_step(studio.messages.StepEvent(data.model, data))
    assert "tolerance" in handle.sent[-1].message
    assert stepper._simulator.options["friction_regularization"] == 1e-2


def test_the_panel_changes_what_was_edited_and_nothing_else(
    studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A choice of the model keeps the options of the caller, whatever they are."""
    given = {"stiction_tolerance": 5e-5, "tolerance": 3e-6, "friction_regularization": 2e-3}
    stepper, data, handle = start(studio, "pinch.xml", "coulomb", **given)
    panel = studio.StictionPanel()
    panel._viewer = Viewer(data.model)

    def use(**edits: Any) -> None:
        stepper.on_step(studio.messages.StepEvent(data.model, data))
        panel.on_contacts(handle.sent[-1])
        edited = ImGui({k.replace("__", " "): v for k, v in edits.items()})
        monkeypatch.setattr(studio.panel, "imgui", edited)
        panel.on_build_gui(studio.messages.BuildGuiEvent())
        for settings in panel._viewer.sent:
            stepper.on_settings(settings)
        panel._viewer.sent.clear()

    def check(contact_model: str, **changed: float) -> None:
        options = stepper._simulator.options
        assert stepper._simulator.contact_model == contact_model
        assert {name: options[name] for name in given} == {**given, **changed}

    use(contact__model="lagged")
    check("lagged")
    use(stiction_tolerance=7e-5)
    use(contact__model="similar")
    check("similar", stiction_tolerance=7e-5)
    use(tolerance=-1.0)  # refused
    check("similar", stiction_tolerance=7e-5)
    use(contact__model="coulomb")
    check("coulomb", stiction_tolerance=7e-5)


def test_a_scene_without_a_simulator_says_why(studio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The panel lets the user choose another model then."""
    stepper, data, handle = start(studio, "pinch.xml", "coulomb", max_seconds=-1.0)
    for _ in range(3):
        assert stepper.on_step(studio.messages.StepEvent(data.model, data)) is True
    (shown,) = handle.sent
    assert "max_seconds" in shown.message and shown.contact_model == "coulomb"
    panel = studio.StictionPanel()
    panel._viewer = Viewer(data.model)
    panel.on_contacts(shown)
    seen = ImGui({})
    monkeypatch.setattr(studio.panel, "imgui", seen)
    panel.on_build_gui(studio.messages.BuildGuiEvent())
    assert shown.message in seen.lines and "contact model: coulomb" in seen.lines
    assert studio.drawing.make_geoms(shown, data.model, studio.drawing.Style()) == []
    stepper._options = {}
    stepper.on_settings(studio.SettingsSnapshot("sap", {}))
    stepper.on_step(studio.messages.StepEvent(data.model, data))
    assert handle.sent[-1].message == "" and handle.sent[-1].contact_model == "sap"


def test_a_reset_clears_the_reason_of_a_failed_step(studio: Any) -> None:
    stepper, data, handle = start(studio, "pinch.xml")
    # In a pause each event takes the step that is asked for; otherwise it depends on the clock.
    control = studio.messages.StepControlSnapshot(pause_state=studio.sim.PauseState.NORMAL_PAUSED)
    stepper.on_step_control(control)
    event = studio.messages.StepEvent(data.model, data)
    for _ in range(2):
        stepper.on_single_step(studio.messages.SingleStepEvent())
        stepper.on_step(event)
    data.qvel[0] = np.nan
    stepper.on_single_step(studio.messages.SingleStepEvent())
    stepper.on_step(event)
    assert "the step failed" in handle.sent[-1].message
    mujoco.mj_resetDataKeyframe(data.model, data, 0)
    stepper.on_step(event)
    assert handle.sent[-1].message == ""


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("scene.xml", "--wbe"), 2, "there is no option --wbe; --help lists what it takes"),
        ((), 2, "0 scenes are given, and one is shown; --help lists what it takes"),
        (("pinch", "gripper", "--web"), 2, "2 scenes are given, and one is shown; --help lists"),
        (("no_scene", "--web"), 2, "these scenes come with the package"),
    ],
)
def test_wrong_usage_of_the_command_gives_one_line(
    studio: Any,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    expected: str,
) -> None:
    assert studio.command.main(list(arguments)) == code
    output, errors = capsys.readouterr()
    assert output == "" and expected in errors
    assert errors.startswith("error: ") and errors.count("\n") == 1


def test_an_unknown_contact_model_is_refused(studio: Any) -> None:
    with pytest.raises(stiction.Error, match=r"there is no 'copulomb' .did you mean 'coulomb'"):
        studio.StictionStepper("copulomb")
    with pytest.raises(stiction.Error, match="there is no 'nope'"):
        studio.make_plugins("nope")


def test_launch_is_a_function_and_no_module(studio: Any) -> None:
    package = importlib.import_module("stiction.studio")
    modules = {path.stem for path in Path(str(package.__file__)).parent.glob("*.py")}
    assert not modules & set(package.__all__)
    assert package.launch is studio.launcher.launch


def test_a_failed_step_pauses_studio_and_says_why(studio: Any) -> None:
    stepper, data, handle = start(studio, "pinch.xml")
    data.qvel[0] = np.nan
    stepper.on_single_step(studio.messages.SingleStepEvent())
    stepper.on_step(studio.messages.StepEvent(data.model, data))
    pauses = [m for m in handle.sent if isinstance(m, studio.messages.RequestPauseEvent)]
    assert len(pauses) == 1
    assert "the step failed (non_finite" in handle.sent[-1].message


def test_patches_have_the_properties_that_the_scene_names(studio: Any) -> None:
    stepper, data, handle = start(studio, "spatula.xml")
    stepper.on_single_step(studio.messages.SingleStepEvent())
    stepper.on_pause(
        studio.messages.RequestPauseEvent(pause_state=studio.sim.PauseState.NORMAL_PAUSED)
    )
    stepper.on_step(studio.messages.StepEvent(data.model, data))
    shown = handle.sent[-1]
    assert len(shown.face) == len(shown.pressure) > 50
    assert len(shown.point) == 0  # the faces of patches are not drawn as points
    style = studio.drawing.Style()
    geoms = studio.drawing.make_geoms(shown, data.model, style)
    assert len(geoms) == len(shown.face)
    wanted = color_pressures(shown.pressure, style.scale.top)
    assert np.array([geom.rgba[:3] for geom in geoms]) == pytest.approx(wanted, abs=1e-6)
    assert shown.pressure.max() <= style.scale.top < 2 * shown.pressure.max()
    assert [geom.size[0] for geom in geoms] == pytest.approx(shown.face_radius, rel=1e-6)
    # MjvGeom.size is the radius along both axes and half the height: the disks are flat.
    assert [geom.size[2] for geom in geoms] == pytest.approx(0.04 * shown.face_radius, rel=1e-6)


def make_panel(studio: Any, contact_model: str = "coulomb") -> Any:
    stepper, data, handle = start(studio, "pinch.xml", contact_model)
    stepper.on_single_step(studio.messages.SingleStepEvent())
    stepper.on_step(studio.messages.StepEvent(data.model, data))
    panel = studio.StictionPanel()
    panel._viewer = Viewer(data.model)
    panel.on_contacts(handle.sent[-1])
    return panel, handle.sent[-1]


def test_the_panel_draws_contacts_in_place_of_mujocos(studio: Any) -> None:
    panel, shown = make_panel(studio)
    viewer = panel._viewer
    viewer.vis_options.flags[int(mujoco.mjtVisFlag.mjVIS_CONTACTPOINT)] = 1
    for _ in range(3):  # the geoms of the last frame are replaced
        panel.on_update(studio.messages.UpdateEvent())
    assert viewer.extra_geoms[0] == "of another plugin"
    own = viewer.extra_geoms[1:]
    assert len(own) == 2 * len(shown.point) > 0
    assert not viewer.vis_options.flags[int(mujoco.mjtVisFlag.mjVIS_CONTACTPOINT)]
    disk = own[0]
    assert disk.type == mujoco.mjtGeom.mjGEOM_CYLINDER
    assert disk.pos == pytest.approx(shown.point[0], abs=1e-6)
    assert np.abs(disk.mat[:, 2] @ shown.normal[0]) == pytest.approx(1, abs=1e-6)
    assert disk.size[2] == pytest.approx(0.04 * disk.size[0])  # flat
    panel.on_post_model(None)
    panel.on_update(studio.messages.UpdateEvent())
    assert panel._snapshot is None


def test_the_panel_shows_the_bound_and_sends_changes(
    studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, _ = make_panel(studio)
    imgui = ImGui({})
    monkeypatch.setattr(studio.panel, "imgui", imgui)
    panel.on_build_gui(studio.messages.BuildGuiEvent())
    assert imgui.depth == 0 and panel._viewer.sent == []
    assert any(line.startswith("error bound: ") for line in imgui.lines)
    assert "stiction_tolerance" in imgui.lines
    assert "near_rigid_factor" not in imgui.lines  # coulomb does not read it

    edits = {"contact model": "sap", "stiction_tolerance": 5e-5, "forces": False}
    monkeypatch.setattr(studio.panel, "imgui", ImGui(edits))
    panel.on_build_gui(studio.messages.BuildGuiEvent())
    (sent,) = panel._viewer.sent
    assert sent.contact_model == "sap" and sent.options["stiction_tolerance"] == 5e-5
    panel.on_update(studio.messages.UpdateEvent())
    assert all(g.type != mujoco.mjtGeom.mjGEOM_ARROW for g in panel._viewer.extra_geoms[1:])


def test_bodies_become_transparent_until_the_user_says_otherwise(
    studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contacts lie inside bodies, which hide them and the arrows of their forces."""
    panel, shown = make_panel(studio)
    flags, transparent = panel._viewer.vis_options.flags, int(mujoco.mjtVisFlag.mjVIS_TRANSPARENT)
    assert not flags[transparent]
    panel.on_post_model(None)
    assert flags[transparent]
    panel.on_contacts(shown)
    monkeypatch.setattr(studio.panel, "imgui", ImGui({"transparent bodies": False}))
    panel.on_build_gui(studio.messages.BuildGuiEvent())
    panel.on_update(studio.messages.UpdateEvent())
    assert not flags[transparent]


def test_the_panel_has_the_scale_of_pressures_and_the_number_of_shapes(
    studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepper, data, handle = start(studio, "spatula.xml")
    stepper.on_single_step(studio.messages.SingleStepEvent())
    stepper.on_step(studio.messages.StepEvent(data.model, data))
    panel = studio.StictionPanel()
    panel._viewer = Viewer(data.model)
    panel.on_contacts(handle.sent[-1])
    monkeypatch.setattr(studio.panel, "MAX_GEOMS", 40)
    panel.on_update(studio.messages.UpdateEvent())
    imgui = ImGui({})
    monkeypatch.setattr(studio.panel, "imgui", imgui)
    panel.on_build_gui(studio.messages.BuildGuiEvent())
    assert "0" in imgui.lines and f"{panel._style.scale.top:g} Pa" in imgui.lines
    assert imgui.colors[0][:3] == pytest.approx(color_pressures(np.zeros(1), 1.0)[0])
    assert imgui.colors[-1][:3] == pytest.approx(color_pressures(np.ones(1), 1.0)[0])
    assert f"40 of {len(handle.sent[-1].face)} shapes are drawn" in imgui.lines


def test_the_arrow_of_a_mean_bodys_weight_has_the_chosen_length(studio: Any) -> None:
    panel, shown = make_panel(studio)
    model, n = panel._viewer.model, len(shown.point)
    arrows = studio.drawing.make_geoms(shown, model, studio.drawing.Style(arrow_length=3.0))[n:]
    weight = model.stat.meanmass * np.linalg.norm(model.opt.gravity)
    length = 3.0 * model.stat.meansize * np.linalg.norm(shown.force, axis=1) / weight
    # The size of an arrow along its axis is its length; mjv_connector keeps half of it for capsules.
    assert [arrow.size[2] for arrow in arrows] == pytest.approx(length, rel=1e-5)


def test_a_launched_scene_starts_at_its_keyframe(studio: Any) -> None:
    scene = stiction.load_scene(SCENES / "spatula.xml")
    data = mujoco.MjData(scene.model)
    stepper = studio.StictionStepper(starts_at_keyframe=True)
    stepper._handle = Handle(scene.model)
    event = studio.messages.PostModelEvent(scene.model, data, str(SCENES / "spatula.xml"))
    stepper.on_post_model(event)
    assert np.array_equal(data.ctrl, scene.make_data().ctrl) and data.ctrl[0] == 16


def test_a_window_is_refused(studio: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert studio.command.main(["pinch"]) == 1
    assert "use the page in the browser, --web" in capsys.readouterr().err


def test_mujoco_has_no_bound(studio: Any) -> None:
    _, shown = make_panel(studio, "mujoco")
    assert shown.figures[0] == "error bound: none"


def run_without_studio(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.modules['mujoco.studio'] = None; {code}"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def test_without_studio_the_import_names_the_extra() -> None:
    result = run_without_studio("from stiction.studio import make_plugins")
    assert result.returncode == 1
    assert 'pip install "stiction[studio]"' in result.stderr.splitlines()[-1]


def test_without_studio_the_command_has_help_and_errors_of_one_line() -> None:
    code = "import runpy; runpy.run_module('stiction.studio', run_name='__main__', alter_sys=True)"
    shown = run_without_studio(code, "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("usage: python -m stiction.studio SCENE --web")
    failed = run_without_studio(code, "gripper", "--web")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: stiction.studio needs MuJoCo Studio")
    assert failed.stderr.endswith('pip install "stiction[studio]"\n')
    assert failed.stderr.count("\n") == 1
