"""stiction study: the parts by closed forms, and each study as a user runs it."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
import stiction.studies
from stiction.cli import app
from stiction.errors import Error
from stiction.experiments import conveyor, sliding_rod
from stiction.experiments.clutter import (
    BOX_MASS,
    STIFFNESS,
    make_clutter,
    make_mjcf,
    make_properties,
)
from stiction.experiments.convergence import calc_last_order, calc_order, calc_rms_error
from stiction.experiments.mujoco_contact import make_contact_attributes
from stiction.experiments.planar import GRAVITY, PlanarBody, run_planar
from stiction.studies.checks import (
    check_at_least,
    check_at_most,
    check_between,
    check_near,
    format_value,
)
from stiction.studies.clutter.plots import _find_hull
from stiction.studies.clutter.run import calc_stiction_speed, run_clutter_case
from stiction.studies.conveyor import theory
from stiction.studies.falling_sphere import study as falling_sphere
from stiction.studies.registry import STUDIES, load_study
from stiction.studies.study import Study, StudyResult, describe_result, write_result
from typer.testing import CliRunner, Result

BALL = PlanarBody(
    mass=2.0,
    inertia=0.01,
    spheres=((0.0, 0.0, 0.1),),
    friction=0.3,
    stiffness=1e5,
    dissipation=0.0,
    relaxation_time=0.0,
)
STICKING = {"sap", "lagged", "lagged_regularized", "similar"}


def run_study(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["study", *arguments], standalone_mode=False)


# ---- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, math.nan])
def test_what_was_not_measured_passes_no_check(value: float | None) -> None:
    checks = [
        check_at_most("a", value, 1, ""),
        check_at_least("a", value, -1, ""),
        check_between("a", value, -1, 1, ""),
        check_near("a", value, 0, 1, ""),
    ]
    assert not any(check.passed for check in checks)


def test_checks_pass_up_to_their_limits() -> None:
    assert check_at_most("a", 2.0, 2.0, "").passed
    assert not check_at_most("a", 2.01, 2.0, "").passed
    assert check_at_least("a", 2.0, 2.0, "").passed
    assert not check_at_least("a", 1.99, 2.0, "").passed
    assert check_between("a", 1.0, 1.0, 2.0, "").passed
    assert not check_between("a", 2.1, 1.0, 2.0, "").passed
    assert check_near("a", -9.0, -10.0, 0.1001, "").passed
    assert not check_near("a", -9.0, -10.0, 0.09, "").passed


def test_checks_say_what_they_want() -> None:
    check = check_near("time [s]", 0.12, 0.1165, 0.02, "closed form")
    assert check.wanted == "0.1165 within 2 %"
    assert format_value(check) == "0.12"
    assert format_value(check_at_most("a", None, 1, "")) == "-"


def test_rms_error_is_taken_at_the_coarse_samples() -> None:
    fine = np.linspace(0, 1, 101)
    coarse = fine[::10]
    reference = np.column_stack([fine, fine**2])
    values = np.column_stack([coarse + 0.3, coarse**2 - 0.4])
    assert calc_rms_error(coarse, values, fine, reference) == pytest.approx(0.5)


def test_rms_error_does_not_interpolate() -> None:
    fine = np.linspace(0, 1, 101)
    with pytest.raises(Error, match="no samples at all of the 3 times"):
        calc_rms_error(np.array([0, 0.5, 0.505]), np.zeros((3, 1)), fine, np.zeros((101, 1)))
    with pytest.raises(Error, match="no samples"):
        calc_rms_error(np.array([0, 0.5, 1.01]), np.zeros((3, 1)), fine, np.zeros((101, 1)))


def test_orders_of_powers_are_exact() -> None:
    errors = {h: 3 * h**1.5 for h in (1e-2, 1e-3, 1e-4)}
    assert calc_order(errors) == pytest.approx(1.5)
    # A constant error that the smallest steps are stopped by.
    plateau = {1e-2: 1e-2, 1e-3: 1e-3, 1e-4: 1e-3}
    assert calc_last_order(plateau) == pytest.approx(0, abs=1e-12)


def test_the_boxs_exact_motion_is_that_of_small_steps() -> None:
    dt, mu_g = 2e-6, conveyor.FRICTION * GRAVITY
    time = dt * np.arange(round(1.2 / dt) + 1)
    belt = conveyor.calc_belt_velocity(time + 0.5 * dt)
    slip, position, speed = np.zeros(len(time)), np.zeros(len(time)), 0.0
    for i in range(len(time) - 1):
        # Friction stops the slip if it can, else it does all that it can.
        speed += float(np.clip(belt[i] - speed, -mu_g * dt, mu_g * dt))
        slip[i + 1] = speed - belt[i]
        position[i + 1] = position[i] + dt * slip[i + 1]
    exact = theory.calc_exact_motion(time)
    assert np.abs(exact[:, 0] - position).max() < 1e-5
    assert np.abs(exact[1:, 1] - slip[1:]).max() < 1e-4


def test_the_rigid_sphere_keeps_the_laws_of_motion() -> None:
    dt = 1e-6
    time = dt * np.arange(round(0.3 / dt))
    x, z, theta = falling_sphere.calc_rigid_motion(time).T
    u, omega = np.gradient(x, dt), np.gradient(theta, dt)
    impact = math.sqrt(2 * falling_sphere.HEIGHT / falling_sphere.GRAVITY)
    falls, rolls = time < impact - 1e-4, time > falling_sphere.ROLLING_TIME + 1e-4
    slides = (time > impact + 1e-4) & (time < falling_sphere.ROLLING_TIME - 1e-4)
    assert u[falls] == pytest.approx(2.0)
    assert u[rolls] == pytest.approx(-0.025 * omega[rolls], rel=1e-6)
    # Momentum about the point that touches: 2/5 m R^2 omega - m R u does not change.
    spin = 0.4 * 0.025 * omega - u
    assert spin[slides] == pytest.approx(-2.0, rel=1e-5)
    assert spin[rolls] == pytest.approx(-2.0, rel=1e-5)
    rate = np.gradient(u[slides], dt)[10:-10]
    assert np.median(rate) == pytest.approx(-0.5 * 9.81, rel=1e-3)
    assert z[~falls][200:] == pytest.approx(0.025)


@pytest.mark.parametrize("contact_model", sorted(STICKING))
def test_a_planar_body_rests_on_its_spring(contact_model: str) -> None:
    sag = BALL.mass * 9.81 / BALL.stiffness
    run = run_planar(BALL, contact_model, 1e-3, 0.05, np.array([0, 0.1 - sag, 0]), np.zeros(3))
    assert run.z == pytest.approx(0.1 - sag, abs=1e-9)
    assert run.normal_force[1:] == pytest.approx(BALL.mass * 9.81)
    assert run.status == {}


@pytest.mark.parametrize("speed", [-1.0, 1.0])
def test_friction_of_a_planar_body_is_against_its_slip(speed: float) -> None:
    sag = BALL.mass * 9.81 / BALL.stiffness
    run = run_planar(
        BALL, "lagged", 1e-4, 0.02, np.array([0, 0.1 - sag, 0]), np.array([speed, 0, 0])
    )
    assert run.friction_force[1:] == pytest.approx(-np.sign(speed) * 0.3 * 2 * 9.81, rel=1e-3)
    assert np.sign(run.slip_velocity[1:]) == pytest.approx(np.sign(speed))
    # Counter-clockwise is positive: friction to the left turns the body clockwise.
    assert np.sign(run.v[-1, 2]) == -np.sign(speed)


def test_every_stride_th_step_is_sampled() -> None:
    q0, v0 = np.array([0, 0.2, 0]), np.zeros(3)
    every = run_planar(BALL, "lagged", 1e-3, 0.04, q0, v0)
    some = run_planar(BALL, "lagged", 1e-3, 0.04, q0, v0, stride=4)
    assert some.time == pytest.approx(every.time[::4])
    assert np.array_equal(some.q, every.q[::4])


def test_the_jam_is_where_the_force_is_largest() -> None:
    run = run_planar(BALL, "lagged", 1e-3, 0.02, np.array([0, 0.1, 0.5]), np.zeros(3))
    run.normal_force[:] = 0.0
    run.normal_force[10:13] = [5, 70, 5]
    run.slip_velocity[:] = 1.0
    run.slip_velocity[11:14] = 1e-3
    jam = sliding_rod.measure_jam(run)
    assert (jam["force"], jam["time"]) == pytest.approx((70, 11e-3))
    assert jam["stiction"] == pytest.approx(2e-3)  # of three samples one bears no load
    assert jam["angle_deg"] == pytest.approx(-math.degrees(0.5), abs=1)


@pytest.mark.parametrize(
    ("stiffness", "time_step"), [(1e7, 2e-3), (1e5, 2e-3), (1e4, 1e-2), (1e8, 1e-3)]
)
def test_mujocos_contact_sags_as_the_spring(stiffness: float, time_step: float) -> None:
    import mujoco

    attributes = make_contact_attributes(1.0, stiffness, time_step)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{time_step}"/><worldbody><geom type="plane" size="1 1 1"'
        f' {attributes}/><body pos="0 0 0.1"><joint type="slide" axis="0 0 1"/><geom size="0.1"'
        f' mass="1" {attributes}/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(5 / time_step))
    assert -data.qpos[0] == pytest.approx(9.81 / stiffness, rel=0.02)


def test_clutter_takes_step_stiffness_and_gap() -> None:
    import mujoco

    scene = make_clutter(10)
    assert make_mjcf(scene, stiffness=STIFFNESS) == make_mjcf(scene)
    model = mujoco.MjModel.from_xml_string(make_mjcf(scene, 5e-3, 1e9, 0.02))
    assert model.opt.timestep == 5e-3
    assert set(model.geom_gap) == {0.02}
    assert set(model.body_mass[1:]) == {BOX_MASS, 0.524}


@pytest.mark.parametrize("contact_model", ["lagged_regularized", "coulomb"])
@pytest.mark.parametrize("time_step", [5e-3, 1e-2])
def test_large_steps_do_not_penetrate_where_nothing_turns(
    contact_model: str, time_step: float
) -> None:
    import mujoco

    slides = "".join(f'<joint type="slide" axis="{a}"/>' for a in ("1 0 0", "0 1 0", "0 0 1"))
    text = make_mjcf(make_clutter(40), time_step).replace("<freejoint/>", slides)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    with stiction.errors.ignored_settings_are_fine():
        simulator = stiction.Simulator(model, contact_model, properties=make_properties())
    deepest = 0.0
    for _ in range(round(1.5 / time_step)):
        distance = simulator.step(data).contacts.distance
        deepest = max([deepest, *-distance])
    assert 0 < deepest < 1e-4  # m; measured 3.6e-5, and 1e-2 of bodies that turn


def test_clutter_scenes_differ_by_their_seed() -> None:
    assert make_clutter(10, 0) == make_clutter(10)
    assert make_clutter(10, 1) != make_clutter(10)


def test_a_run_of_the_clutter_has_all_its_figures() -> None:
    run = run_clutter_case("lagged_regularized", time_step=1e-2, num_conditions=5)
    assert len(run.time) == 300
    assert run.time[-1] == pytest.approx(3.0)
    assert np.isfinite(run.condition).sum() == 5
    # At rest in a box: the inertia of a sphere is the smallest eigenvalue.
    assert run.mean_condition(2.0) > 1e4
    assert 0 < run.mean_penetration <= run.max_penetration < 8e-3
    assert run.num_failed == 0
    assert run.contacts[-1] > 90
    assert json.loads(json.dumps(run.describe()))["max_iterations"] == run.iterations.max()


def test_stiction_speeds_are_those_of_the_models() -> None:
    simulator = BALL.make_simulator("sap", 1e-3)
    import mujoco

    data = mujoco.MjData(simulator.model)
    data.qpos[:] = [0, 0.1 - 2 * 9.81 / 1e5, 0]
    contacts = simulator.step(data).contacts
    sigma_speed = 1e-3 * contacts.delassus[0] * 0.3 * 2 * 9.81 * 1e-3
    assert calc_stiction_speed("sap", contacts) == pytest.approx(sigma_speed)
    assert calc_stiction_speed("lagged", contacts) == 1e-4
    assert calc_stiction_speed("lagged_regularized", contacts) == max(1e-4, sigma_speed)
    assert math.isnan(calc_stiction_speed("mujoco", contacts))


def test_the_hull_of_a_square_is_its_corners() -> None:
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    hull = _find_hull(np.vstack([rng.uniform(0.1, 0.9, (20, 2)), corners]))
    assert hull.tolist() == corners.tolist()


def test_results_are_written_as_plain_json(tmp_path: Path) -> None:
    study = Study("conveyor", "a title", lambda settings: StudyResult(), plots=())
    result = StudyResult(
        figures={"rms": {2e-3: math.nan}}, checks=[check_at_most("a", 1.0, 2.0, "s")]
    )
    from stiction.studies.study import Settings

    description = describe_result(study, Settings(True, ("lagged",)), result)
    path = write_result(description, result, tmp_path / "a" / "b")
    read = json.loads(path.read_text())
    assert read["figures"] == {"rms": {"0.002": "nan"}}
    assert read["passed"] is True
    with pytest.raises(Error, match="cannot be written"):
        write_result(description, result, path / "below_a_file")


# ---- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_the_name_it_is_listed_by(name: str) -> None:
    assert load_study(name).name == name


def test_every_study_is_listed() -> None:
    folder = Path(stiction.studies.__file__).parent
    assert {path.parent.name for path in folder.glob("*/study.py")} == set(STUDIES)


def test_a_misspelt_study_is_not_imported() -> None:
    with pytest.raises(Error, match="there is no 'conveyer' .did you mean 'conveyor'"):
        load_study("conveyer")


# The pancake needs an arm of another package, and has its own test.
@pytest.mark.parametrize("name", [name for name in STUDIES if name != "pancake"])
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
        assert check.keys() == {"name", "value", "wanted", "passed", "source"}
        assert check["wanted"] and check["source"]
    written = json.loads((tmp_path / f"{name}.json").read_text())
    assert written["checks"] == printed["checks"]
    plots = sorted(tmp_path.glob("*.png"))
    assert sorted(printed["plots"]) == [plot.name for plot in plots]
    assert sorted(load_study(name).plots) == [plot.stem for plot in plots]
    for plot in plots:
        assert plot.read_bytes().startswith(b"\x89PNG")
        assert plot.stat().st_size > 10_000


def test_a_spoilt_expectation_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(falling_sphere, "ROLLING_TIME", 0.07)  # what the paper's text has
    arguments = ("falling_sphere", "--quick", "--contact-model", "lagged")
    result = run_study(*arguments, "--out", str(tmp_path))
    assert result.return_value == 1
    assert "FAIL" in result.stdout
    assert "check failed: rolling time at 2 ms, lagged [s]" in result.stderr
    assert not json.loads((tmp_path / "falling_sphere.json").read_text())["passed"]


def test_peers_are_compared_with_where_they_are(tmp_path: Path) -> None:
    arguments = ("falling_sphere", "--quick", "--json", "--contact-model", "lagged")
    arguments += ("--peers", str(tmp_path), "--out", str(tmp_path / "out"))
    alone = json.loads(run_study(*arguments).stdout)
    assert any("not compared" in note for note in alone["notes"])
    assert "peer_reference" not in alone["figures"]

    # A peer whose sphere moves a centimeter aside.
    time = np.arange(0, 0.3 + 1e-9, 4e-5)
    x, z, _ = falling_sphere.calc_rigid_motion(time).T
    with gzip.open(tmp_path / "sphere_tamsi_ref_4e-6_every10.csv.gz", "wt") as file:
        file.write("t,x,z\n")
        for row in zip(time, x + 0.01, z, strict=True):
            file.write(",".join(map(repr, map(float, row))) + "\n")
    result = run_study(*arguments)
    assert result.return_value == 1
    assert json.loads(result.stdout)["figures"]["peer_reference"] == pytest.approx(0.01, rel=1e-3)


def test_a_misspelt_study_has_its_name_suggested() -> None:
    result = CliRunner().invoke(app, ["study", "conveyer"])
    assert result.exit_code == 2
    assert "did you mean 'conveyor'" in result.stderr
