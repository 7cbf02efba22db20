"""Tests runs of the scorecard: worlds, adapters, processes, raw data and the command."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stiction.errors import Error
from stiction.evidence.engines.adapters.mujoco_adapter import MujocoAdapter, set_start
from stiction.evidence.engines.adapters.stiction_adapter import StictionAdapter
from stiction.evidence.engines.drive import StoppedError, drive
from stiction.evidence.engines.environments import PEERS, install_environments
from stiction.evidence.engines.mjcf import make_contact, make_mjcf
from stiction.evidence.engines.world import Body, Trajectory, World, from_plain, to_plain
from stiction.evidence.scorecard import campaign as campaigns
from stiction.evidence.scorecard.campaign import Campaign, Run, plan_runs
from stiction.evidence.scorecard.engine_table import ENGINES, find_engine
from stiction.evidence.scorecard.results import read_raw
from stiction.evidence.scorecard.scene import calc_energy, calc_energy_gain
from stiction.evidence.scorecard.scene_table import SCENES, find_scene

ENVIRONMENTS = Path(__file__).parents[3] / "build" / "scorecard"


@pytest.mark.parametrize("name", SCENES)
def test_a_world_survives_json_and_compiles(name: str) -> None:
    world = SCENES[name].make_world()
    assert from_plain(json.loads(json.dumps(to_plain(world)))) == world
    model = mujoco.MjModel.from_xml_string(make_mjcf(world, 1e-3))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for body in world.bodies:
        index = model.body(body.name).id
        np.testing.assert_allclose(data.xpos[index], body.pos, atol=1e-12)
        assert model.body_mass[index] == pytest.approx(body.mass)
    steps = SCENES[name].steps
    assert list(steps) == sorted(steps, reverse=True)
    for step in steps:
        assert SCENES[name].count_steps(step) >= 20


def test_a_scene_measures_no_error_in_the_exact_motion() -> None:
    """The stopping block, as its own formula moves it."""
    scene = SCENES["stopping_distance"]
    time = np.linspace(0, scene.duration, 501)
    until = np.minimum(time, 1 / (0.5 * 9.81))
    pos = np.zeros((501, 1, 3))
    pos[:, 0, 0] = until - 0.25 * 9.81 * until**2
    still = np.zeros((501, 1, 3))
    run = Trajectory(("block",), time, pos, np.tile([1.0, 0, 0, 0], (501, 1, 1)), still, still)
    found = scene.measure(run)
    assert found.error < 1e-12
    assert found.creep == 0


def test_a_rod_that_never_jams_has_no_value() -> None:
    still = np.zeros((3, 1, 3))
    fast = np.full((3, 1, 3), 10.0)
    upright = np.tile([1.0, 0, 0, 0], (3, 1, 1))
    run = Trajectory(("rod",), np.arange(3.0), still, upright, fast, still)
    found = SCENES["rod_jam"].measure(run)
    assert math.isnan(found.value)
    assert found.error == math.inf


def test_energy_of_a_fall_is_constant() -> None:
    world = World(bodies=(Body("b", (0.0, 0.0, 0.0), 2.0, (1.0, 2.0, 3.0), spin=(0.0, 0.0, 1.0)),))
    time = np.linspace(0, 1, 11)
    pos, velocity, spin = np.zeros((11, 1, 3)), np.zeros((11, 1, 3)), np.zeros((11, 1, 3))
    pos[:, 0, 2], velocity[:, 0, 2], spin[:, 0, 2] = -9.81 * time**2 / 2, -9.81 * time, 1.0
    run = Trajectory(("b",), time, pos, np.tile([1.0, 0, 0, 0], (11, 1, 1)), velocity, spin)
    np.testing.assert_allclose(calc_energy(world, run), 1.5, atol=1e-9)
    velocity[-1, 0, 0] = 1.0  # someone pushed
    assert calc_energy_gain(world, run) == pytest.approx(1.0)


def test_an_adapter_that_builds_another_start_is_found() -> None:
    world = SCENES["stopping_distance"].make_world()
    adapter = MujocoAdapter(world, 1e-2, {})
    moved = dataclasses.replace(world.bodies[0], pos=(1.0, 0.0, 0.025))
    with pytest.raises(StoppedError, match="the position of block differs by 1"):
        drive(adapter, World(bodies=(moved,), ground=world.ground), 1e-2, 1)


@pytest.mark.parametrize("name", ["cradle", "hertz"])
def test_a_time_constant_gives_the_spring_of_a_direct_solref(name: str) -> None:
    """Genesis takes no direct solref; MuJoCo takes both."""
    world, ends = SCENES[name].make_world(), []
    for is_direct in (True, False):
        contact = make_contact(world, 1e-4, is_direct=is_direct)
        assert ('solref="-' in contact) == is_direct
        model = mujoco.MjModel.from_xml_string(make_mjcf(world, 1e-4, contact=contact))
        data = mujoco.MjData(model)
        set_start(world, model, data)
        mujoco.mj_step(model, data, 1000)
        ends.append(np.array([*data.qpos, *data.qvel]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)


def test_only_hertz_has_a_dashpot_and_it_is_critical() -> None:
    surface = SCENES["hertz"].make_world().surface
    assert surface.damping**2 == pytest.approx(4 * surface.stiffness * surface.load / 9.81)
    assert SCENES["cradle"].make_world().surface.damping == 0


def test_a_step_that_fails_stops_the_run() -> None:
    world = SCENES["stopping_distance"].make_world()

    class Failing(MujocoAdapter):
        def step(self, forces: object) -> None:
            raise StoppedError("it failed")

    run = drive(Failing(world, 1e-2, {}), world, 1e-2, 5)
    assert run.stopped == "it failed"
    assert run.num_steps == 0


@pytest.mark.filterwarnings("ignore::stiction.errors.StepWarning")
def test_warnings_of_our_steps_are_recorded() -> None:
    """Under sap a light box sinks under a heavy one, and the step says so."""
    scene = SCENES["mass_ratio"]
    world = scene.make_world()
    adapter = StictionAdapter(world, 1e-2, {"contact_model": "sap"})
    run = drive(adapter, world, 1e-2, 100)
    assert run.messages == {"penetration": run.messages["penetration"]}


def test_forces_come_when_contacts_have_settled() -> None:
    scene = SCENES["held_cube"]
    assert scene.make_forces is not None
    forces = scene.make_forces(1e-2, scene.count_steps(1e-2))
    cube = [body.name for body in scene.make_world().bodies].index("cube")
    assert not forces[:25, cube].any()
    np.testing.assert_allclose(forces[25:, cube, 2], -0.981)


def test_all_steps_are_planned_and_the_coarsest_twice() -> None:
    engines = [ENGINES["stiction coulomb"], ENGINES["mujoco elliptic"]]
    runs = list(plan_runs(engines, [SCENES["bowling"], SCENES["pressure_field"]]))
    assert len(runs) == 2 * 4 + 4  # MuJoCo has no pressure fields
    assert sum(run.repeat for run in runs) == 3


def make_run(engine: str, repeat: int = 0) -> Run:
    return Run(ENGINES[engine], SCENES["stopping_distance"], 1e-2, repeat)


@pytest.mark.slow
def test_runs_are_kept_repeated_and_measured(tmp_path: Path) -> None:
    with Campaign(tmp_path, ENVIRONMENTS) as campaign:
        for engine in ("stiction coulomb", "mujoco elliptic"):
            assert campaign.run(make_run(engine))
            assert campaign.run(make_run(engine, repeat=1))
        assert not campaign.run(make_run("stiction coulomb"))
        # A run that was killed has no JSON file.
        path = make_run("mujoco elliptic").find_path(tmp_path)
        path.with_suffix(".json").unlink()
        assert campaign.run(make_run("mujoco elliptic"))
    rows = {row.engine: row for row in read_raw(tmp_path)}
    assert rows["stiction coulomb"].error == pytest.approx(0.0485, abs=1e-3)
    assert {row.same_bits for row in rows.values()} == {"1"}
    assert all(row.cpu_us > 0 and not row.failed for row in rows.values())


def test_other_settings_are_another_run(tmp_path: Path) -> None:
    engine = ENGINES["stiction coulomb"]
    options = {"friction_law": "soft", "stiction_tolerance": 1.0}
    other = dataclasses.replace(engine, settings={"contact_model": "coulomb", "options": options})
    with Campaign(tmp_path, ENVIRONMENTS) as campaign:
        campaign.run(make_run("stiction coulomb"))
        creeping = dataclasses.replace(make_run("stiction coulomb"), engine=other)
        assert campaign.run(creeping)
    assert read_raw(tmp_path)[0].error > 0.1


def test_a_run_that_takes_too_long_is_a_result(tmp_path: Path) -> None:
    with Campaign(tmp_path, ENVIRONMENTS, max_seconds=1e-3) as campaign:
        campaign.run(make_run("stiction coulomb"))
    (row,) = read_raw(tmp_path)
    assert "no result within 0.001 s" in row.failed
    assert row.error == math.inf


def test_an_engine_that_refuses_a_scene_is_a_result(tmp_path: Path) -> None:
    bad = dataclasses.replace(ENGINES["mujoco elliptic"], settings={"option": 'cone="round"'})
    with Campaign(tmp_path, ENVIRONMENTS) as campaign:
        campaign.run(dataclasses.replace(make_run("mujoco elliptic"), engine=bad))
    (row,) = read_raw(tmp_path)
    assert "invalid keyword: 'round'" in row.failed


def test_an_adapter_with_a_fault_is_an_error(tmp_path: Path) -> None:
    bad = dataclasses.replace(ENGINES["stiction coulomb"], settings={})
    with Campaign(tmp_path, ENVIRONMENTS) as campaign, pytest.raises(Error, match="KeyError"):
        campaign.run(dataclasses.replace(make_run("stiction coulomb"), engine=bad))


def test_unknown_names_suggest_others() -> None:
    with pytest.raises(Error, match="there is no scene 'bowlin'.*did you mean 'bowling'"):
        find_scene("bowlin")
    with pytest.raises(Error, match="there is no engine 'drake sapp'.*did you mean 'drake sap'"):
        find_engine("drake sapp")
    with pytest.raises(Error, match="there is no environment 'ode'"):
        install_environments(["ode"], Path("nowhere"))


def test_a_missing_engine_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"stiction scorecard --install drake.*pip install drake=="):
        ENGINES["drake sap"].environment.find_python(tmp_path)


# Newton and Genesis are left out, because they compile for half a minute and more.
@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer not in ("newton", "genesis")])
def test_a_peer_runs_a_cheap_scene(peer: str, tmp_path: Path) -> None:
    """Needs the peer's environment in build/scorecard."""
    engine = next(e for e in ENGINES.values() if e.environment.name == peer)
    if not engine.environment.is_installed(ENVIRONMENTS):
        pytest.skip(f"run stiction scorecard --install {peer}")
    with Campaign(tmp_path, ENVIRONMENTS) as campaign:
        campaign.run(dataclasses.replace(make_run("stiction coulomb"), engine=engine))
    (row,) = read_raw(tmp_path)
    assert row.error < 0.1
    assert peer in row.version.lower()


def test_interrupted_campaigns_stop_between_runs(tmp_path: Path) -> None:
    told: list[str] = []
    runs = [make_run("stiction coulomb"), make_run("mujoco elliptic")]
    with Campaign(tmp_path, ENVIRONMENTS) as campaign:
        assert not campaigns.run_all(runs, campaign, told.append, lambda: bool(told))
    assert told == ["stopping_distance, stiction coulomb, 10 ms"]
