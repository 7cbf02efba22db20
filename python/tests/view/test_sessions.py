"""Tests simulations, recordings and the clock of the viewer, without a browser."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml

import stiction
from stiction.runs.controls import ControlsName
from stiction.view import readers
from stiction.view.certificate_strip import count_steps, find_bad_frames, make_strip
from stiction.view.film import Film, film_sessions
from stiction.view.frame import Frame
from stiction.view.panels import ModelPanel, list_speeds
from stiction.view.plots import QUANTITIES, make_limits, make_series, take_affordable, thin_out
from stiction.view.recorded import RecordedRun, check_same_scene
from stiction.view.runner import _TICK, Runner
from stiction.view.session import Session, check_count
from stiction.view.simulation import Simulation


def wait_until(is_done: Callable[[], bool], timeout: float = 20.0) -> None:
    end = time.perf_counter() + timeout
    while not is_done():
        assert time.perf_counter() < end, "timeout"
        time.sleep(0.005)


def go(session: Session, steps: int) -> np.ndarray:
    for _ in range(steps):
        assert session.advance()
    return session.frame.end


# ---- simulations ----------------------------------------------------------------------------------


def test_a_simulation_makes_the_steps_of_the_simulator(scene: stiction.Scene) -> None:
    simulator, data = scene.make_simulator("sap"), scene.make_data()
    simulator.step(data, nstep=30)
    session = Simulation(scene, "sap")
    end = go(session, 30)
    assert np.array_equal(end[1 : 1 + scene.model.nq], data.qpos)
    assert session.frame.index == 30 and session.time == pytest.approx(0.3)


def test_a_simulation_continues_from_an_earlier_frame_with_the_same_bits(
    scene: stiction.Scene,
) -> None:
    session = Simulation(scene, "coulomb")
    end = go(session, 40)
    session.seek(0.15)
    assert session.frame.index == 15
    go(session, 25)  # these are known
    assert session.frame.end is end
    session.seek(0.15)
    session.change("coulomb")  # forgets later frames
    assert session.is_at_end
    assert np.array_equal(go(session, 25), end)


def test_another_model_continues_from_the_frame_that_is_shown(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    start = go(session, 10)
    go(session, 10)
    session.seek(0.1)
    session.change("coulomb")
    session.change("mujoco")
    assert session.name == "mujoco"
    go(session, 1)
    assert session.frame.start == pytest.approx(start)
    assert session.frame.index == 11


def test_a_wrong_option_changes_nothing(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    go(session, 3)
    with pytest.raises(stiction.Error, match="tolerance"):
        session.change(tolerance=2.0)
    assert session.simulator.options["tolerance"] != 2.0
    assert session.frame.index == 3


def test_reset_gives_the_same_run_again(scene: stiction.Scene) -> None:
    session = Simulation(scene, "lagged")
    end = go(session, 20)
    session.reset()
    assert session.frame.index == 0 and session.time == 0
    assert np.array_equal(go(session, 20), end)


def test_a_failed_step_is_a_frame_and_stops_the_run(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    go(session, 2)
    session.change(max_seconds=1e-9)
    assert session.advance()
    assert not session.frame.is_good and "out_of_time" in session.frame.status
    assert "step 3 failed (out_of_time" in session.problem
    assert not session.advance()
    session.change(max_seconds=None)
    assert session.problem == "" and session.advance()


def test_a_body_follows_the_mouse(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    ball = scene.model.body("ball").id
    session.drag.grab(ball, (0, 0, 0), (0.2, 0, 0.1))
    session.drag.move((0.2, 0.1, 0.1))
    go(session, 100)
    session.drag.release()
    data = mujoco.MjData(scene.model)
    mujoco.mj_setState(scene.model, data, session.frame.end, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_kinematics(scene.model, data)
    # The spring holds the ball a little below the pointer, by g / w^2 = 25 mm.
    assert data.xpos[ball] == pytest.approx([0.2, 0.1, 0.1 - 9.81 / 20**2], abs=3e-3)
    assert not data.xfrc_applied.any()  # the force leaves no trace
    session.seek(0.2)
    session.advance()
    assert session.frame.index == 21  # a replay of what was dragged
    session.drag.grab(ball, (0, 0, 0), (0.2, 0, 0.1))
    session.advance()
    assert session.is_at_end  # while it is dragged, the frame is a new one


def test_random_controls_are_the_same_after_going_back(tmp_path: Path) -> None:
    path = tmp_path / "motor.xml"
    path.write_text(
        "<mujoco><option timestep='.01'/><worldbody><body><joint name='j'/><geom size='.1'/></body>"
        "</worldbody><actuator><motor joint='j'/></actuator></mujoco>"
    )
    scene = stiction.load_scene(path)
    session = Simulation(scene, "sap", controls=ControlsName.random, seed=3)
    end = go(session, 100)
    for moment in (0.0, 0.33, 0.95):
        session.seek(moment)
        session.change("sap")  # forgets later frames
        assert np.array_equal(go(session, 100 - session.frame.index), end), moment


def test_a_frame_counts_all_that_it_keeps(scene: stiction.Scene) -> None:
    """The limit of the memory holds only if each array of the report is counted."""
    grid = {"geom": "box", "size": [0.2, 0.2], "shape": [100, 100], "pos": [0, 0, -0.05]}
    taxels = {"taxels": {"skin": {**grid, "normal": [0, 0, -1], "first_axis": [1, 0, 0]}}}
    properties = {**yaml.safe_load((scene.path.parent / "box.contact.yaml").read_text()), **taxels}
    session = Simulation(stiction.load_scene(scene.path, properties), "sap")
    bare = Simulation(scene, "sap")
    assert len(session.frame.read()[0].center)
    assert session.frame.size - bare.frame.size >= 100 * 100 * 13 * 8


# ---- recordings -----------------------------------------------------------------------------------


def test_a_recording_has_the_frames_of_the_run(scene: stiction.Scene, recording: Path) -> None:
    run, simulation = RecordedRun(recording), Simulation(scene, "sap")
    go(run, 40), go(simulation, 40)
    assert not run.advance()
    assert np.array_equal(run.frame.end, simulation.frame.end)
    assert np.array_equal(run.frame.start, simulation.frame.start)
    assert run.frame.error_bound == pytest.approx(simulation.frame.error_bound)
    assert run.frame.energy == pytest.approx(simulation.frame.energy)
    (patches, points), (same_patches, same_points) = run.frame.read(), simulation.frame.read()
    assert patches.vertices == pytest.approx(same_patches.vertices, abs=1e-7)
    assert patches.starts.tolist() == same_patches.starts.tolist()
    assert patches.traction == pytest.approx(same_patches.traction, rel=1e-5, abs=1e-3)
    assert points.force == pytest.approx(same_points.force, rel=1e-5, abs=1e-6)
    assert points.geoms.tolist() == same_points.geoms.tolist()
    assert run.frame.creep == pytest.approx(
        np.linalg.norm(same_patches.slip_velocity, axis=1).max(), rel=1e-4, abs=1e-9
    )


def test_one_can_scrub_through_a_recording(recording: Path) -> None:
    run = RecordedRun(recording)
    assert run.frame.index == 0
    assert run.read_ahead(10)
    assert run.frame.index == 0 and len(run.frames) == 12
    while run.read_ahead(100):
        pass
    assert len(run.frames) == 41
    run.seek(0.2)
    assert run.frame.index == 20
    run.seek(0.0)
    assert run.frame.index == 0
    run.seek(9.0)
    assert run.frame.index == 40


def test_pairs_that_fell_back_are_found_in_recordings(tmp_path: Path) -> None:
    text = """
    <mujoco><worldbody>
      <body name="a"><freejoint/><geom name="a" type="box" size=".1 .1 .1"/></body>
      <body name="b" pos="0 0 .199"><freejoint/><geom name="b" type="box" size=".1 .1 .1"/></body>
    </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    properties = {
        "materials": {"soft": {"hydroelastic_modulus": 1e5, "resolution_hint": 0.1}},
        "geoms": {"a": "soft"},
    }
    simulator = stiction.Simulator(model, "sap", properties=properties)
    path = tmp_path / "fallback.mcap"
    with stiction.Recorder(path, simulator) as recorder:
        report = recorder.step(mujoco.MjData(model))
    assert report.contacts.is_fallback.all()
    run = RecordedRun(path)
    run.advance()
    assert run.frame.read()[1].is_fallback.all() and len(run.frame.read()[1].point)


def test_recordings_of_two_scenes_do_not_go_together(recording: Path, tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"
    )
    with stiction.Recorder(tmp_path / "other.mcap", stiction.Simulator(model)) as recorder:
        recorder.step(mujoco.MjData(model))
    runs = [RecordedRun(recording), RecordedRun(tmp_path / "other.mcap")]
    check_same_scene(runs[:1] * 2)
    with pytest.raises(stiction.Error, match="other.mcap: is a recording of another scene"):
        check_same_scene(runs)
    with pytest.raises(stiction.Error, match="7 scenes do not fit"):
        check_count(7)


@pytest.fixture
def reset(scene: stiction.Scene, tmp_path: Path) -> Path:
    """A recording of 30 steps, a reset, and 20 steps."""
    path, simulator, data = tmp_path / "reset.mcap", scene.make_simulator("sap"), scene.make_data()
    with stiction.Recorder(path, simulator, scene=scene.path) as recorder:
        recorder.step(data, nstep=30)
        mujoco.mj_resetData(scene.model, data)
        recorder.step(data, nstep=20)
    return path


def test_a_recording_with_a_reset_is_shown_to_its_end(reset: Path) -> None:
    run = RecordedRun(reset)
    while run.read_ahead(100):
        pass
    times = [frame.time for frame in run.frames]
    assert times == pytest.approx(np.arange(51) * 0.01)
    for frame in run.frames:
        run.seek(frame.time)
        assert run.frame is frame
    assert run.frame.end[0] == pytest.approx(0.2)  # the clock of the scene
    # A page and the clock of the viewer reach the end too, with all frames on the way.
    (film,) = film_sessions([RecordedRun(reset)], 1e9, frame_time=0.04)
    starts = [frame.start_time for frame in film.frames]
    assert np.diff(starts[1:]) == pytest.approx(0.04) and film.num_steps == 50
    assert [frame.index for frame in film.frames][-2:] == [45, 49]
    runner = Runner([RecordedRun(reset)], speed=math.inf)
    runner.start()
    runner.play()
    wait_until(lambda: runner.time == pytest.approx(0.5) and not runner.is_playing)
    runner.stop()


def test_a_film_goes_on_after_a_reset(scene: stiction.Scene) -> None:
    film, simulator, data = Film("sap"), scene.make_simulator("sap"), scene.make_data()
    for steps in (30, 20):
        for _ in range(steps):
            film.step(simulator, data)
        mujoco.mj_resetData(scene.model, data)
    assert np.diff([frame.start_time for frame in film.frames]) == pytest.approx(0.04)
    assert len(film.frames) == 13


def test_a_damaged_recording_says_so(recording: Path) -> None:
    assert not RecordedRun(recording).warnings
    recording.write_bytes(recording.read_bytes()[:-3000])
    run = RecordedRun(recording)
    assert "the whole steps before are shown" in run.warnings["damage"]


# ---- the clock ------------------------------------------------------------------------------------


def test_sessions_reach_the_same_times_whatever_their_steps(scene: stiction.Scene) -> None:
    sessions = [Simulation(scene, "sap"), Simulation(scene, "coulomb", time_step=0.004)]
    runner = Runner(sessions, speed=4.0)
    runner.start()
    runner.play()
    wait_until(lambda: runner.time > 0.5)
    runner.pause()
    runner.submit(lambda: None)
    wait_until(lambda: not runner._commands)
    runner.stop()
    assert abs(sessions[0].time - sessions[1].time) <= 0.01 + 1e-9


def test_the_clock_runs_at_the_speed_of_the_wall(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    runner = Runner([session], speed=0.5)
    runner.start()
    begin = time.perf_counter()
    runner.play()
    wait_until(lambda: runner.time >= 0.4)
    elapsed = time.perf_counter() - begin
    runner.stop()
    # A busy machine may be later, but it must not run ahead.
    assert elapsed > 0.4 / 0.5 - 0.1


def test_pause_step_seek_and_reset(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    runner = Runner([session])
    runner.start()
    for steps in (1, 2, 3):
        runner.step()
        wait_until(lambda steps=steps: session.frame.index == steps)
    runner.seek(0.01)
    wait_until(lambda: runner.time == pytest.approx(0.01))
    assert not runner.is_playing
    runner.reset()
    wait_until(lambda: runner.time == 0)
    runner.submit(lambda: session.change(tolerance=5.0))
    wait_until(lambda: "tolerance" in runner.problem)
    runner.submit(lambda: session.change("coulomb"))
    wait_until(lambda: session.contact_model == "coulomb" and runner.problem == "")
    runner.stop()


class Faulty(Simulation):
    """A simulation whose steps fail with an exception that nobody expects."""

    def _make_next(self) -> Frame | None:
        raise ValueError("a fault of the program")


def test_an_unexpected_exception_stops_the_clock_and_is_shown(scene: stiction.Scene) -> None:
    runner = Runner([Faulty(scene, "sap")])
    runner.start()
    for move in (runner.play, runner.step):
        runner.problem = ""
        move()
        wait_until(lambda: runner.problem == "ValueError: a fault of the program")
        assert not runner.is_playing
    runner.submit(lambda: [][1])
    wait_until(lambda: runner.problem.startswith("IndexError"))
    runner.reset()  # the page still obeys
    wait_until(lambda: runner.problem == "")
    runner.stop()


def test_each_press_of_the_step_button_makes_a_step(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    runner = Runner([session], speed=math.inf)
    runner.start()
    for _ in range(300):
        runner.step()
    wait_until(lambda: runner._single_steps == 0)
    runner.stop()
    assert session.frame.index == 300


def test_a_recording_plays_to_its_end_and_stops(recording: Path) -> None:
    runner = Runner([RecordedRun(recording)], speed=math.inf)
    runner.start()
    runner.play()
    wait_until(lambda: runner.time == pytest.approx(0.4) and not runner.is_playing)
    runner.stop()


def test_who_draws_gets_the_newest_frame_and_misses_others(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    runner = Runner([session], speed=math.inf)
    runner.start()
    runner.play()
    seen = []
    version = -1
    for _ in range(3):
        snapshot = runner.wait_for_change(version, 10)
        version = snapshot.version
        seen.append(snapshot.frames[0].index)
        threading.Event().wait(0.2)  # a slow browser
    newest = session.frame.index
    runner.stop()
    assert seen == sorted(seen) and newest - seen[0] > 20


def test_the_panel_changes_what_was_edited_and_nothing_else(scene: stiction.Scene) -> None:
    fields: dict[str, Any] = {}

    class Gui:
        """Inputs without a browser."""

        def __getattr__(self, kind: str) -> Any:
            def add(label: str, *_: Any, initial_value: Any = None, **__: Any) -> Any:
                field = SimpleNamespace(
                    value=initial_value, on_update=lambda f: f, on_click=lambda f: f
                )
                fields[label.partition(" [")[0]] = field
                return nullcontext() if kind == "add_folder" else field

            return add

    simulations = [
        Simulation(scene, "sap", time_step=1 / 300, tolerance=1.23456789e-7),
        Simulation(scene, "sap", time_step=1 / 700),
    ]
    before = [each.simulator.options for each in simulations]
    panel = ModelPanel(SimpleNamespace(gui=Gui()), Runner(simulations), simulations)
    panel._apply()
    assert [each.simulator.options for each in simulations] == before
    fields["friction_regularization"].value = "2e-3"
    panel._apply()
    changed = [{**each, "friction_regularization": 2e-3} for each in before]
    assert [each.simulator.options for each in simulations] == changed
    # All numbers are shown as the numbers that they are.
    assert float(fields["time_step"].value) == 1 / 300


# ---- figures and films ----------------------------------------------------------------------------


def test_series_have_the_figures_of_each_run_at_their_times(scene: stiction.Scene) -> None:
    sessions = [Simulation(scene, "sap"), Simulation(scene, "sap", time_step=0.02)]
    go(sessions[0], 10), go(sessions[1], 5)
    frames = [thin_out(session.frames) for session in sessions]
    iterations = next(each for each in QUANTITIES if each.title == "iterations")
    times, first, second = make_series(frames, iterations)
    assert times == pytest.approx(np.linspace(0, 0.1, 11))
    assert np.isfinite(first).all()
    assert np.isfinite(second).tolist() == [True, False] * 5 + [True]
    bound = next(each for each in QUANTITIES if "error bound" in each.title)
    logarithms = make_series(frames[:1], bound)[1]
    assert logarithms[5] == pytest.approx(np.log10(frames[0][5].error_bound))


@pytest.mark.parametrize(
    ("rows", "limits"),
    [
        ([[math.nan, -5.2, -3.1], [-4.0, math.nan, math.nan]], (-5.2, -3.1)),  # flies at first
        ([[math.nan, math.nan], [2.0, 7.0]], (2.0, 7.0)),  # a model without certificates
        ([[math.nan, math.nan]], (0.0, 1.0)),
        ([[0.0, 0.0]], (0.0, 1.0)),
        ([[3.0, 3.0]], (3.0, 3.004)),
        ([[0.4607, 0.4611]], (0.4607, 0.4647)),  # the labels would all be 0.461
        ([[-1e-9, 2e-9]], (-1e-9, 2e-9)),
    ],
)
def test_limits_of_a_plot_contain_all_values_that_are_known(
    rows: list[list[float]], limits: tuple[float, float]
) -> None:
    out = make_limits([np.array(row) for row in rows])
    assert out.shape == (len(rows[0]),)
    assert out[:2] == pytest.approx(limits, abs=1e-15)
    assert set(out) == set(out[:2])


def test_a_long_run_is_thinned_out(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    go(session, 1)
    many = [session.frame] * 1000
    assert len(thin_out(many)) in (0, 1000)  # all have the same index, so all or none is chosen
    assert len(thin_out(many[:200])) == 200


def test_figures_are_computed_a_few_at_a_time(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    go(session, 50)
    known = [len(take_affordable(session.frames)) for _ in range(4)]
    assert known == [20, 40, 51, 51]


def test_the_strip_counts_every_failure(scene: stiction.Scene) -> None:
    session = Simulation(scene, "sap")
    go(session, 1)
    for count in (1, 200, 201, 500, 1999):
        bad = [replace(session.frame, status="not_converged")] * count
        session._start_with(bad)
        times = [frame.time for frame in find_bad_frames([session])]
        strip = make_strip(times, 0, 1, (count, count))
        assert f"{count} failed" in strip
        assert 0 < strip.count("stiction-bad") <= 200


def test_a_pause_finds_all_runs_at_the_same_step(scene: stiction.Scene) -> None:
    """The pause comes while the first run steps, in the middle of a frame of ten steps."""
    sessions = [
        Simulation(scene, "sap"),
        Simulation(scene, "coulomb"),
        Simulation(scene, "similar"),
    ]
    runner = Runner(sessions, speed=10 * scene.model.opt.timestep / _TICK)
    count = [0]
    advance = sessions[0].advance

    def pause_at_the_fifth_step() -> bool:
        count[0] += 1
        if count[0] == 5:
            runner.pause()
        return advance()

    sessions[0].advance = pause_at_the_fifth_step  # type: ignore[method-assign]
    runner.play()
    assert runner._move()
    assert [session.frame.index for session in sessions] == [5, 5, 5]


def test_runs_with_other_steps_stay_within_one_step(scene: stiction.Scene) -> None:
    step = scene.model.opt.timestep
    sessions = [Simulation(scene, "sap"), Simulation(scene, "sap", time_step=3 * step)]
    runner = Runner(sessions, speed=7 * step / _TICK)
    runner.play()
    for _ in range(5):
        runner._move()
    assert [session.frame.index for session in sessions] == [35, 12]


@pytest.mark.parametrize(
    ("contact_models", "words", "color"),
    [
        (("coulomb",), "certificates of 5 steps: all good", "#2ca02c"),
        (("no_slip",), "certificates of 5 steps: all good", "#2ca02c"),
        (("mujoco",), "5 steps of mj_step without certificates", "#9a9a9a"),
        (
            ("coulomb", "mujoco"),
            "certificates of 5 steps: all good; 5 steps of mj_step have none",
            "#2ca02c",
        ),
    ],
)
def test_steps_of_mj_step_have_no_certificate(
    contact_models: tuple[str, ...], words: str, color: str, scene: stiction.Scene
) -> None:
    """Live, and in a film that a program makes."""
    sessions = [Simulation(scene, name) for name in contact_models]
    for session in sessions:
        go(session, 5)
    live = count_steps([session.frames for session in sessions])
    films = [Film(name) for name in contact_models]
    for film in films:
        simulator, data = scene.make_simulator(film.name), scene.make_data()
        for _ in range(5):
            film.step(simulator, data)
    total = sum(film.num_steps for film in films), sum(film.num_certified for film in films)
    assert live == total
    strip = make_strip([], 0, 1, live)
    assert f">{words}<" in strip and f"background:{color}" in strip
    failed = make_strip([0.5], 0, 1, live)
    assert "1 failed" in failed


def test_a_changed_contact_model_counts_from_its_first_step(scene: stiction.Scene) -> None:
    session = Simulation(scene, "coulomb")
    go(session, 3)
    session.change("mujoco")
    go(session, 4)
    assert count_steps([session.frames]) == (7, 3)


def test_a_film_has_a_frame_for_each_moment_and_all_failures(scene: stiction.Scene) -> None:
    (film,) = film_sessions([Simulation(scene, "sap")], 0.4, frame_time=0.04)
    starts = [frame.start[0] for frame in film.frames]
    assert np.diff(starts[1:]) == pytest.approx(0.04)
    assert film.num_steps == 40
    simulator, data = (
        scene.make_simulator("sap", max_seconds=1e-9, on_failure="stop"),
        scene.make_data(),
    )
    failed = Film("sap")
    for _ in range(3):
        failed.step(simulator, data)
    assert [frame.is_good for frame in failed.frames] == [False] * 3


@pytest.mark.parametrize("speed", [0.05, 0.3, 1.0, 3.0, math.inf])
def test_the_speed_of_the_command_is_among_those_of_the_page(speed: float) -> None:
    speeds = list_speeds(speed)
    assert list(speeds.values()) == sorted({*list_speeds(1.0).values(), speed})
    assert len(speeds) == 7 + (speed in (0.3, 3.0))


def test_the_remedy_for_a_missing_viewer_says_what_it_does_to_mujoco(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readers, "find_missing", lambda: ["viser"])
    monkeypatch.setattr(mujoco, "__version__", "4.0.1")
    with pytest.raises(stiction.Error, match=r"takes MuJoCo 4\.0\.1 back to 4\.0\.0"):
        readers.require_viewer()
    monkeypatch.setattr(mujoco, "__version__", "4.0.0")
    with pytest.raises(stiction.Error, match=r"run pip install 'stiction\[view\]'$"):
        readers.require_viewer()
