"""stiction.patch on simulations that need no other package: scope, restoration, reports and errors."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

import stiction
from stiction.clients import routing
from stiction.clients.client import Client, Substitution, get_data
from stiction.clients.patch import Patch
from stiction.clients.simulations import Simulations

SCENE = """
<mujoco>
  <option timestep=".002"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
      <site name="pad" type="box" size=".12 .12 .12"/></body>
  </worldbody>
  <sensor><touch name="touch" site="pad"/></sensor>
</mujoco>
"""
# A box that overlaps two opposite walls: no velocity corrects both overlaps.
SQUEEZED = """
<mujoco><worldbody><geom type="box" size=".1 1 1" pos="-.19 0 0"/>
<geom type="box" size=".1 1 1" pos=".19 0 0"/><body><joint type="slide" axis="1 0 0"/>
<geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>
"""
FLEX = """
<mujoco><worldbody><body name="b">
<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2"/></body>
</worldbody></mujoco>
"""
FUNCTIONS = (
    "mj_step",
    "mj_step1",
    "mj_step2",
    "mj_forward",
    "mj_forwardSkip",
    "mj_fwdConstraint",
    "mj_resetData",
    "mj_resetDataKeyframe",
    "mj_resetDataDebug",
)
ORIGINAL = {name: getattr(mujoco, name) for name in FUNCTIONS}


class Robot:
    """An environment as users write them: it calls mujoco.mj_step."""

    num_shimmed = 0

    def __init__(self) -> None:
        self.build()
        self.settle()

    def build(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(SCENE)
        self.data = mujoco.MjData(self.model)

    def settle(self) -> None:
        mujoco.mj_step(self.model, self.data, nstep=3)

    def step(self, num_steps: int = 1) -> np.ndarray:
        self.data.qfrc_applied[0] = 3
        mujoco.mj_step(self.model, self.data, num_steps)
        return np.concatenate([self.data.qpos, self.data.qvel])


ROBOT = Client(
    "robots",
    "robots",
    find_owner=lambda target: target if isinstance(target, Robot) else None,
    find_data=get_data,
    list_constructors=lambda: [(Robot, "__init__")],
    list_shims=lambda: [Substitution(Robot, "num_shimmed", lambda old: old + 1)],
)


@pytest.fixture(autouse=True)
def everything_is_restored() -> Iterator[None]:
    constructor = vars(Robot)["__init__"]
    yield
    gc.collect()
    assert routing._active == (), "a test left a patch"
    assert {name: getattr(mujoco, name) for name in FUNCTIONS} == ORIGINAL
    assert vars(Robot)["__init__"] is constructor
    assert Robot.num_shimmed == 0


def run_by_mujoco(num_steps: int = 50) -> np.ndarray:
    robot = Robot()
    return np.array([robot.step() for _ in range(num_steps)])


def run_by_simulator(num_steps: int = 50, **options: object) -> np.ndarray:
    robot = Robot()
    simulator = stiction.Simulator(robot.model, **options)  # type: ignore[arg-type]
    states = []
    for _ in range(num_steps):
        robot.data.qfrc_applied[0] = 3
        simulator.step(robot.data)
        states.append(np.concatenate([robot.data.qpos, robot.data.qvel]))
    return np.array(states)


def test_a_patched_simulation_has_the_bits_of_a_simulator():
    robot = Robot()
    with stiction.patch(robot.data, "lagged", tolerance=1e-8) as patch:
        states = np.array([robot.step() for _ in range(50)])
        assert patch.num_steps == 50
        assert patch.report is not None and patch.report.ok
        assert patch.simulator is not None and patch.simulator.contact_model == "lagged"
    np.testing.assert_array_equal(states, run_by_simulator(contact_model="lagged", tolerance=1e-8))
    assert not np.array_equal(states, run_by_mujoco())


def test_the_contact_model_mujoco_has_the_bits_of_mj_step():
    robot = Robot()
    with stiction.patch(robot.data, "mujoco"):
        states = [robot.step() for _ in range(50)]
    np.testing.assert_array_equal(states, run_by_mujoco())


def test_other_data_step_with_mujoco():
    robot, other = Robot(), Robot()
    with stiction.patch(robot.data) as patch:
        states = [other.step() for _ in range(50)]
        assert patch.num_steps == 0
    np.testing.assert_array_equal(states, run_by_mujoco())


def test_after_restore_the_simulation_steps_with_mujoco():
    robot = Robot()
    patch = stiction.patch(robot.data)
    assert patch.is_active
    robot.step(20)
    patch.restore()
    patch.restore()  # does nothing
    assert not patch.is_active
    mujoco.mj_resetData(robot.model, robot.data)
    robot.settle()
    np.testing.assert_array_equal([robot.step() for _ in range(50)], run_by_mujoco())
    assert patch.num_steps == 20


def test_a_restored_patch_cannot_be_entered():
    robot = Robot()
    patch = stiction.patch(robot.data)
    patch.restore()
    with (
        pytest.raises(stiction.Error, match=r"has been restored.* call stiction\.patch again"),
        patch,
    ):
        pass


def test_a_package_patch_that_covers_nothing_warns():
    robot = Robot()
    with (
        pytest.warns(stiction.StictionWarning, match="has covered no simulation"),
        Patch(ROBOT, None, None, {}) as patch,
    ):
        robot.step()  # made before the block, so MuJoCo steps it
    assert patch.num_steps == 0


def test_an_exception_in_the_block_restores():
    robot = Robot()
    with pytest.raises(ZeroDivisionError), stiction.patch(robot.data) as patch:
        _ = 1 / 0
    assert not patch.is_active


def test_a_patch_ends_with_its_data():
    robot = Robot()
    patch = stiction.patch(robot.data)
    data = weakref.ref(robot.data)
    del robot
    gc.collect()
    assert data() is None
    assert not patch.is_active


def test_the_last_of_nested_patches_steps_and_leaving_it_gives_back_the_other():
    robot = Robot()
    with stiction.patch(robot.data, "sap") as outer:
        robot.step()
        with stiction.patch(robot.data, "tamsi") as inner:
            robot.step(2)
        robot.step(4)
    assert (outer.num_steps, inner.num_steps) == (5, 2)


def test_patches_may_be_restored_in_any_order():
    robot = Robot()
    first, second = stiction.patch(robot.data, "sap"), stiction.patch(robot.data, "tamsi")
    first.restore()
    robot.step()
    assert (first.num_steps, second.num_steps) == (0, 1)
    second.restore()


def test_packages_that_share_a_class_may_be_restored_in_any_order():
    class Base:
        def __init__(self) -> None:
            pass

    original = vars(Base)["__init__"]
    clients = [
        Client(name, name, get_data, get_data, lambda: [(Base, "__init__")]) for name in ("a", "b")
    ]
    for first in (0, 1):
        patches = [Simulations(client, None, None, {}) for client in clients]
        for each in patches:
            each.activate()
        Base()
        assert [each.num_covered for each in patches] == [1, 1]
        patches[first].deactivate()
        assert vars(Base)["__init__"] is not original
        patches[1 - first].deactivate()
        assert vars(Base)["__init__"] is original


def test_a_handle_serves_one_block_at_a_time():
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(SCENE))
    patch = stiction.patch(data)
    with (
        patch,
        pytest.raises(
            stiction.Error, match=r"is in a block already, .* call stiction\.patch again"
        ),
        patch,
    ):
        pass
    assert not patch.is_active


def test_no_steps_are_no_steps():
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(SCENE))
    with stiction.patch(data) as patch:
        mujoco.mj_step(data.model, data, 0)
        assert patch.num_steps == 0 and data.time == 0
        mujoco.mj_step(data.model, data)


def test_warnings_point_to_the_line_that_steps():
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(SQUEEZED))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with stiction.patch(data, contact_model="no_slip", stiction_tolerance=1e-3):
            mujoco.mj_step(data.model, data)
    kinds = {each.category for each in caught}
    assert kinds == {stiction.IgnoredSettingWarning, stiction.StepWarning}
    assert {each.filename for each in caught} == {__file__}


def test_a_package_patch_takes_what_is_made_in_the_block_from_its_first_step():
    before = Robot()
    with Patch(ROBOT, None, None, {"contact_model": "lagged"}) as patch:
        assert Robot.num_shimmed == 1
        robot, other = Robot(), Robot()
        assert patch.num_steps == 6
        before.step()
        assert patch.num_steps == 6
        robot.step(2)
        other.step(3)
        assert patch.num_steps == 11
    robot.step()
    assert patch.num_steps == 11


def test_a_patch_of_one_object_inside_a_package_patch_wins():
    with Patch(ROBOT, None, None, {}) as package:
        robot = Robot()
        with Patch(ROBOT, robot, None, {}) as own:
            robot.step()
            assert Robot.num_shimmed == 1  # shims are not applied twice
        robot.step()
    assert (own.num_steps, package.num_steps) == (1, 4)


def test_the_patch_follows_an_owner_that_makes_its_model_again():
    robot = Robot()
    with Patch(ROBOT, robot, None, {"contact_model": "sap"}) as patch:
        first = patch.simulator
        robot.step(5)
        robot.build()
        robot.settle()
        states = np.array([robot.step() for _ in range(50)])
        assert patch.simulator is not first
        assert patch.num_steps == 58
    with Patch(ROBOT, None, None, {"contact_model": "sap"}):
        fresh = Robot()
        np.testing.assert_array_equal(states, [fresh.step() for _ in range(50)])


def test_a_package_patch_forgets_owners_that_no_longer_exist():
    with Patch(ROBOT, None, None, {}) as patch:
        robot = Robot()
        assert len(patch._simulations) == 1
        del robot
        gc.collect()
        assert len(patch._simulations) == 0
        assert patch.is_active
        Robot()
        assert patch.num_steps == 6


def test_a_subclass_that_steps_by_itself_is_patched():
    class Torque(Robot):
        def step(self, num_steps: int = 1) -> np.ndarray:
            for _ in range(num_steps):
                self.data.qfrc_applied[0] = -self.data.qvel[0]
                mujoco.mj_step(self.model, self.data)
            return self.data.qpos

    robot = Torque()
    with Patch(ROBOT, robot, None, {}) as patch:
        robot.step(7)
    assert patch.num_steps == 7


@pytest.mark.parametrize("name", ["mj_forward", "mj_forwardSkip", "mj_fwdConstraint"])
def test_forward_reads_stictions_forces(name: str):
    robot = Robot()
    with stiction.patch(robot.data) as patch:
        mujoco.mj_step(robot.model, robot.data, 300)
        steps = patch.num_steps
        arguments = (0, 0) if name == "mj_forwardSkip" else ()
        getattr(mujoco, name)(robot.model, robot.data, *arguments)
        assert robot.data.sensor("touch").data[0] == pytest.approx(9.81, abs=1e-3)
        assert patch.num_steps == steps
    mujoco.mj_forward(robot.model, robot.data)
    assert abs(robot.data.sensor("touch").data[0] - 9.81) > 0.01


def test_a_step_in_two_halves_is_one_step():
    robot = Robot()
    with stiction.patch(robot.data, "sap") as patch:
        states = []
        for _ in range(50):
            mujoco.mj_step1(robot.model, robot.data)
            robot.data.qfrc_applied[0] = 3
            mujoco.mj_step2(robot.model, robot.data)
            states.append(np.concatenate([robot.data.qpos, robot.data.qvel]))
        assert patch.num_steps == 50
    np.testing.assert_array_equal(states, run_by_simulator(contact_model="sap"))


def test_after_two_halves_positions_are_of_the_end_and_forces_of_the_step():
    """dm_control ends a step with mj_step1, which fills positions, velocities and their sensors."""
    robot, alone = Robot(), Robot()
    with stiction.patch(robot.data) as patch:
        for _ in range(20):
            mujoco.mj_step1(robot.model, robot.data)
            mujoco.mj_step2(robot.model, robot.data)
        qacc, touch = robot.data.qacc.copy(), robot.data.sensor("touch").data.copy()
        mujoco.mj_step1(robot.model, robot.data)
        assert patch.num_steps == 20
    mujoco.mj_copyData(alone.data, alone.model, robot.data)
    mujoco.mj_kinematics(alone.model, alone.data)
    np.testing.assert_array_equal(robot.data.xpos, alone.data.xpos)
    np.testing.assert_array_equal(robot.data.xpos[1], robot.data.qpos[:3])
    np.testing.assert_array_equal(robot.data.qacc, qacc)
    np.testing.assert_array_equal(robot.data.sensor("touch").data, touch)


@pytest.mark.filterwarnings("ignore::stiction.StepWarning")  # the box jams
def test_a_reset_repeats_the_episode_bit_for_bit():
    model = mujoco.MjModel.from_xml_string(
        SCENE.replace(
            '<body pos="0 0 .1">',
            '<body name="hand" mocap="true" pos="0 0 .3"><geom type="box" size=".1 .1 .1"/></body>'
            '<body pos="0 0 .1">',
        )
    )
    data = mujoco.MjData(model)

    def run_episode() -> list[np.ndarray]:
        mujoco.mj_resetData(model, data)
        states = []
        for i in range(40):
            data.mocap_pos[0] = [
                0.002 * i,
                0,
                0.299,
            ]  # rubs on the box, by the velocity of its poses
            mujoco.mj_step(model, data)
            states.append(data.qpos.copy())
        return states

    with stiction.patch(data):
        first = run_episode()
        np.testing.assert_array_equal(run_episode(), first)


def test_warnings_of_steps_are_counted():
    model = mujoco.MjModel.from_xml_string(SQUEEZED)
    data = mujoco.MjData(model)
    with stiction.patch(data, "no_slip") as patch:
        with pytest.warns(stiction.StepWarning, match="cannot be corrected together"):
            mujoco.mj_step(model, data, 3)
        mujoco.mj_forward(model, data)
        assert patch.warning_counts == {"conflict": 4}


def test_a_failed_step_raises_and_is_reported():
    robot = Robot()
    with stiction.patch(robot.data) as patch:
        robot.data.qfrc_applied[2] = np.nan
        with pytest.raises(stiction.StepError):
            mujoco.mj_step(robot.model, robot.data)
        assert patch.report is not None and not patch.report.ok


def test_options_that_are_not_given_are_those_of_set_default_when_the_patch_was_made():
    with stiction.set_default("sap", tolerance=1e-8, time_step=0.01):
        robot = Robot()
        patch = Patch(ROBOT, robot, None, {})
        patch.restore()
        with stiction.patch(robot.data, max_iterations=9) as patch:
            with stiction.set_default("tamsi"):
                robot.build()  # not the patched data; a patch of MjData does not follow
            assert patch.simulator is not None
            options = patch.simulator.options
    assert options["contact_model"] == "sap"
    assert options["tolerance"] == 1e-8
    assert options["max_iterations"] == 9
    assert options["time_step"] == 0.002


def test_two_threads_step_their_own_data():
    robots = [Robot(), Robot()]
    patches = [stiction.patch(robot.data, "sap") for robot in robots]
    results: dict[int, np.ndarray] = {}

    def run(i: int) -> None:
        results[i] = np.array([robots[i].step() for _ in range(200)])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for patch in patches:
        patch.restore()
    expected = run_by_simulator(200, contact_model="sap")
    np.testing.assert_array_equal(results[0], expected)
    np.testing.assert_array_equal(results[1], expected)


def test_many_patches_keep_their_data_apart():
    robots = [Robot() for _ in range(20)]
    patches = [stiction.patch(robot.data) for robot in robots]
    for i, robot in enumerate(robots):
        robot.step(i + 1)
    assert [patch.num_steps for patch in patches] == list(range(1, 21))
    for patch in patches:
        patch.restore()


def test_a_replacement_by_somebody_else_survives():
    robot = Robot()
    calls = []
    with stiction.patch(robot.data):
        inner = mujoco.mj_step

        def count(*arguments: object) -> None:
            calls.append(arguments)
            inner(*arguments)

        mujoco.mj_step = count
    try:
        assert mujoco.mj_step is count
        robot.step()  # by MuJoCo, through both
        assert len(calls) == 1
    finally:
        mujoco.mj_step = ORIGINAL["mj_step"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (3, r"target: is an int, must be an environment of Gymnasium"),
        ("dm_contrl", r"there is no package 'dm_contrl' \(did you mean 'dm_control'\?\)"),
        ("mujoco", r"there is no package 'mujoco'"),
    ],
)
def test_what_cannot_be_patched_is_refused(target: object, message: str):
    with pytest.raises(stiction.Error, match=message):
        stiction.patch(target)


def test_a_package_that_is_not_installed_is_named():
    absent = Client("no_such_robots", "no-such-robots", lambda target: None, get_data)
    with pytest.raises(stiction.Error, match="install it: pip install no-such-robots"):
        absent.load()


def test_bad_options_are_refused_before_anything_is_replaced():
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(SCENE))
    with pytest.raises(stiction.Error, match="tolerance: is -1"):
        stiction.patch(data, tolerance=-1)
    with pytest.raises(TypeError, match="did you mean 'tolerance'"):
        stiction.patch(data, tollerance=1)  # type: ignore[call-arg]
    with pytest.raises(stiction.Error, match=r"time_step: .* set model.opt.timestep instead"):
        stiction.patch(data, time_step=0.01)


def test_a_model_that_stiction_cannot_step_is_refused_at_once():
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(FLEX))
    with pytest.raises(stiction.Error, match="flex"):
        stiction.patch(data)


def test_the_handle_describes_itself():
    robot = Robot()
    with stiction.patch(robot.data, "sap") as patch:
        robot.step(2)
        assert repr(patch) == "<stiction patch of mujoco: active, sap, 2 steps>"
    assert repr(patch) == "<stiction patch of mujoco: restored, sap, 2 steps>"
