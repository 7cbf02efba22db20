"""stiction.patch on the environments of other packages, 200 steps each.

`./dev environments` runs this file with the newest versions of the packages from the index, and
`./dev pytest` with the versions of requirements/scenes.txt. A package that is missing skips its tests.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.clients.packages import CLIENTS

NUM_STEPS = 200

# The packages' remarks on their versions, their MuJoCo settings that have no effect (RK4, noslip), and
# the fault of MuJoCo 4.0.0 that concerns only the contact model 'mujoco'. All else is an error.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("error::stiction.errors.StictionWarning"),
    pytest.mark.filterwarnings("ignore::stiction.errors.IgnoredSettingWarning"),
    pytest.mark.filterwarnings("ignore:MuJoCo 4.0.0 may compute wrong:stiction.errors.StepWarning"),
]


@dataclass(frozen=True)
class Case:
    """An environment: its package, its name, and the number of physics steps per step."""

    package: str
    name: str
    num_substeps: int

    def make(self) -> Environment:
        importlib.import_module(self.package)
        if self.package == "dm_control":
            return Suite(*self.name.split("."))
        return Gym(self.name)


class Gym:
    """An environment of Gymnasium, behind its usual wrappers."""

    def __init__(self, name: str) -> None:
        self.env: Any = importlib.import_module("gymnasium").make(name)

    def reset(self) -> None:
        self.env.reset(seed=0)

    def step(self, random: np.random.Generator) -> None:
        space = self.env.action_space
        *_, terminated, truncated, _ = self.env.step(
            random.uniform(space.low, space.high).astype(np.float32)
        )
        if terminated or truncated:
            self.reset()

    @property
    def data(self) -> mujoco.MjData:
        return self.env.unwrapped.data


class Suite:
    """A task of dm_control's suite."""

    def __init__(self, domain: str, task: str) -> None:
        suite = importlib.import_module("dm_control.suite")
        self.env: Any = suite.load(domain, task, task_kwargs={"random": 0})

    def reset(self) -> None:
        self.env.task.random.seed(0)
        self.env.reset()

    def step(self, random: np.random.Generator) -> None:
        spec = self.env.action_spec()
        self.env.step(random.uniform(spec.minimum, spec.maximum))

    @property
    def data(self) -> mujoco.MjData:
        return self.env.physics.data.ptr


Environment = Gym | Suite

ANT = Case("gymnasium", "Ant-v5", 5)
HUMANOID = Case("gymnasium", "Humanoid-v5", 5)
CHEETAH = Case("dm_control", "cheetah.run", 1)
MANIPULATOR = Case("dm_control", "manipulator.bring_ball", 10)
FETCH = Case("gymnasium_robotics", "FetchPickAndPlace-v4", 20)
HAND = Case("gymnasium_robotics", "HandManipulateBlock-v1", 20)
CASES = (ANT, HUMANOID, CHEETAH, MANIPULATOR, FETCH, HAND)

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture(autouse=True)
def needs_package(request: pytest.FixtureRequest) -> None:
    """Skips the test if the package that it names, or that of its case, is not installed."""
    marker = request.node.get_closest_marker("needs")
    name = marker.args[0] if marker else request.node.callspec.params["case"].package
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")


@contextlib.contextmanager
def made_fit_for_mujoco_4(package: str) -> Iterator[None]:
    """Applies what a patch repairs in a package, so that it runs under MuJoCo alone."""
    client = next(each for each in CLIENTS if each.name == package)
    client.load()
    for shim in client.shims:
        shim.install()
    try:
        yield
    finally:
        for shim in client.shims:
            shim.remove()


def run(environment: Environment, num_steps: int = NUM_STEPS) -> np.ndarray:
    """Resets an environment and steps it with random actions; returns its states and sensors."""
    random = np.random.default_rng(0)
    environment.reset()
    states = []
    for _ in range(num_steps):
        environment.step(random)
        data = environment.data
        states.append(np.concatenate([data.qpos, data.qvel, data.sensordata]))
    return np.array(states)


def sum_contact_forces(data: mujoco.MjData) -> np.ndarray:
    """Sums the contact forces of MuJoCo's mj_contactForce, on the second body, in the world [N]."""
    total, wrench = np.zeros(3), np.zeros(6)
    for i, contact in enumerate(data.contact):
        mujoco.mj_contactForce(data.model, data, i, wrench)
        total += contact.frame.reshape(3, 3).T @ wrench[:3]
    return total


@pytest.mark.slow
@every_case
def test_every_physics_step_is_a_step_of_stiction(case: Case):
    with stiction.patch(case.package) as patch:
        environment = case.make()
        random = np.random.default_rng(0)
        environment.reset()
        for _ in range(NUM_STEPS):
            before, time = patch.num_steps, environment.data.time
            environment.step(random)
            assert patch.report is not None and patch.report.ok
            if environment.data.time > time:  # a reset may also take steps
                assert patch.num_steps == before + case.num_substeps
                step = environment.data.model.opt.timestep
                assert environment.data.time - time == pytest.approx(case.num_substeps * step)


@pytest.mark.slow
@every_case
def test_a_patch_with_mujocos_contact_has_mujocos_bits(case: Case, monkeypatch: pytest.MonkeyPatch):
    with stiction.patch(case.package, "mujoco"):
        patched = run(case.make())
    if case is CHEETAH:
        # Its initialization sets positions and then steps by mj_step2, which does not compute
        # positions of bodies. Stiction steps from the state that was set, as mj_step does.
        monkeypatch.setattr(mujoco, "mj_step2", mujoco.mj_step)
    with made_fit_for_mujoco_4(case.package):
        np.testing.assert_array_equal(patched, run(case.make()))


@pytest.mark.slow
@every_case
def test_stictions_motion_differs_and_repeats_bit_for_bit(case: Case):
    with made_fit_for_mujoco_4(case.package):
        of_mujoco = run(case.make())
    with stiction.patch(case.package):
        environment = case.make()
        first = run(environment)
        np.testing.assert_array_equal(run(environment), first)  # after a reset with the same seed
        np.testing.assert_array_equal(run(case.make()), first)
    assert np.isfinite(first).all()
    assert not np.array_equal(first, of_mujoco)


@every_case
def test_restore_gives_back_mujocos_bits(case: Case):
    with made_fit_for_mujoco_4(case.package):
        expected = run(case.make(), 20)
        environment = case.make()
        with stiction.patch(environment.env) as patch:
            run(environment, 20)
            num_steps = patch.num_steps
            assert num_steps >= 20 * case.num_substeps
        np.testing.assert_array_equal(run(environment, 20), expected)
        assert patch.num_steps == num_steps


@every_case
def test_contact_forces_sum_to_those_of_the_report(case: Case):
    """The report has the impulses that the solver found, and mj_contactForce reads what is in mjData."""
    with stiction.patch(case.package) as patch:
        environment = case.make()
        random = np.random.default_rng(0)
        environment.reset()
        num_touching = 0
        for _ in range(NUM_STEPS):
            environment.step(random)
            data = environment.data
            assert patch.simulator is not None
            mujoco.mj_forward(data.model, data)
            reported = patch.simulator.forward(data).contacts.impulse.sum(axis=0)
            forces = reported / data.model.opt.timestep
            tolerance = 1e-6 * (1 + np.abs(data.efc_force).max(initial=0))
            np.testing.assert_allclose(sum_contact_forces(data), forces, atol=tolerance)
            num_touching += bool(np.abs(forces).max() > 0.1)
        assert num_touching > 10


@pytest.mark.parametrize("case", [ANT, HUMANOID], ids=lambda case: case.name)
def test_gymnasium_reads_the_external_forces_that_move_the_root(case: Case):
    """Only contacts with the floor push on the free joint of the root."""
    with stiction.patch(case.package):
        environment = case.make()
        environment.reset()
        random = np.random.default_rng(0)
        largest = 0.0
        for _ in range(NUM_STEPS):
            environment.step(random)
            data = environment.data
            external = data.cfrc_ext[1:, 3:].sum(axis=0)
            np.testing.assert_allclose(
                external, data.qfrc_constraint[:3], atol=1e-6 * (1 + np.abs(external).max())
            )
            largest = max(largest, float(np.abs(external).max()))
        assert largest > 1


@pytest.mark.parametrize("case", [ANT, HUMANOID], ids=lambda case: case.name)
def test_at_rest_the_external_forces_of_gymnasium_carry_the_weight(case: Case):
    with stiction.patch(case.package):
        environment = case.make()
        environment.reset()
        env = environment.env.unwrapped
        for _ in range(600):
            env.step(np.zeros(env.model.nu))  # without the wrapper that ends the episode
        weight = 9.81 * env.model.body_mass.sum()
        external = env.data.cfrc_ext[1:, 3:].sum(axis=0)
        np.testing.assert_allclose(external, [0, 0, weight], atol=1e-5 * weight)


@pytest.mark.parametrize("case", [CHEETAH], ids=lambda case: case.name)
def test_contact_force_of_dm_control_carries_the_weight(case: Case):
    with stiction.patch(case.package):
        environment = case.make()
        environment.reset()
        env = environment.env
        for _ in range(400):
            env.step(np.zeros(6))
        data = env.physics.data
        env.physics.forward()
        forces = [
            data.contact[i].frame.reshape(3, 3).T @ data.contact_force(i)[0]
            for i in range(data.ncon)
        ]
        weight = 9.81 * env.physics.model.body_mass.sum()
        np.testing.assert_allclose(np.sum(forces, axis=0), [0, 0, weight], atol=1e-4 * weight)


@pytest.mark.parametrize("case", [FETCH], ids=lambda case: case.name)
def test_fetch_picks_the_block_up(case: Case):
    with stiction.patch(case.package) as patch:
        env = importlib.import_module("gymnasium").make(case.name)
        observation, _ = env.reset(seed=0)

        def move_to(target: np.ndarray, opening: float, num_steps: int) -> np.ndarray:
            nonlocal observation
            for _ in range(num_steps):
                direction = np.clip(8 * (target - observation["observation"][:3]), -1, 1)
                action = np.append(direction, opening).astype(np.float32)
                observation, *_ = env.step(action)
            return observation["observation"][3:6]

        block = observation["observation"][3:6]
        move_to(block + np.array([0, 0, 0.1]), 1, 15)
        move_to(block, 1, 10)
        move_to(block, -1, 6)
        lifted = move_to(block + np.array([0, 0, 0.15]), -1, 15)
        assert lifted[2] == pytest.approx(block[2] + 0.15, abs=0.02)
        assert patch.report is not None and patch.report.ok


@pytest.mark.needs("gymnasium")
def test_a_vector_environment_is_refused_with_the_way():
    gymnasium = importlib.import_module("gymnasium")

    def make() -> Any:
        env = gymnasium.make("Ant-v5")
        stiction.patch(env)
        return env

    vector = gymnasium.vector.SyncVectorEnv([make, make])
    with pytest.raises(stiction.Error, match="patch each of them: call stiction.patch"):
        stiction.patch(vector)
    vector.reset(seed=0)
    vector.step(vector.action_space.sample())
    for env in vector.envs:
        with stiction.patch(env) as patch:  # inside the patch of make, which goes on afterwards
            assert patch.num_steps == 0
    vector.close()


def make_patched_ant() -> Any:
    env = importlib.import_module("gymnasium").make("Ant-v5")
    stiction.patch(env, "lagged")
    return env


@pytest.mark.needs("gymnasium")
def test_environments_of_other_processes_step_with_stiction():
    """AsyncVectorEnv calls the function in the process of the environment."""
    vector = importlib.import_module("gymnasium.vector")
    results = []
    for kind in (vector.SyncVectorEnv, vector.AsyncVectorEnv):
        envs = kind([make_patched_ant] * 2)
        envs.reset(seed=0)
        envs.action_space.seed(0)
        for _ in range(20):
            observations, *_ = envs.step(envs.action_space.sample())
        results.append(observations)
        envs.close()
    np.testing.assert_array_equal(results[0], results[1])
    by_mujoco = vector.SyncVectorEnv(
        [lambda: importlib.import_module("gymnasium").make("Ant-v5")] * 2
    )
    by_mujoco.reset(seed=0)
    by_mujoco.action_space.seed(0)
    for _ in range(20):
        observations, *_ = by_mujoco.step(by_mujoco.action_space.sample())
    assert not np.array_equal(observations, results[0])


@pytest.mark.needs("gymnasium")
def test_an_environment_without_mujoco_is_refused():
    env = importlib.import_module("gymnasium").make("CartPole-v1")
    with pytest.raises(stiction.Error, match="is a CartPoleEnv, which has no mujoco.MjData"):
        stiction.patch(env)


@pytest.mark.needs("dm_control")
def test_dm_control_has_its_table_of_fields_back():
    sizes = importlib.import_module("dm_control.mujoco.wrapper.mjbindings.sizes")
    before = sizes.array_sizes
    with stiction.patch("dm_control"):
        engine = importlib.import_module("dm_control.mujoco.engine")
        physics = engine.Physics.from_xml_string("<mujoco/>")
        assert "flex_vertedge" not in sizes.array_sizes["mjmodel"]
    assert sizes.array_sizes is before
    assert "flex_vertedge" in before["mjmodel"]
    with stiction.patch(physics) as patch:
        physics.step()
        assert patch.num_steps == 1
        copied = physics.copy()
        copied.step()
        assert patch.num_steps == 1  # a copy is another simulation


@pytest.mark.needs("dm_control")
def test_the_new_physics_of_a_composer_environment_settle():
    """Composer compiles a Physics for each episode, and lets props settle until qacc is small.

    It reads qacc after Physics.forward. With MuJoCo's forces there, the box would never be at rest, and
    settling would last until its limit of 2 s.
    """
    with stiction.patch("dm_control") as patch:
        env = make_box_on_floor()
        physics = set()
        for _ in range(2):
            before = patch.num_steps
            env.reset()
            physics.add(env.physics.data.ptr)
            settling = patch.num_steps - before
            fall = math.sqrt(2 * 0.02 / 9.81)  # [s]
            assert fall < settling * env.physics.timestep() < fall + 0.1
            env.step(np.zeros(0))
        assert len(physics) == 2
        assert patch.report is not None and patch.report.ok


def make_box_on_floor() -> Any:
    """Makes an environment of composer with a box that falls 20 mm in each reset."""
    composer = importlib.import_module("dm_control.composer")
    initializers = importlib.import_module("dm_control.composer.initializers")
    mjcf = importlib.import_module("dm_control.mjcf")

    class Box(composer.Entity):  # type: ignore[misc, name-defined]
        def _build(self) -> None:
            self._mjcf_root = mjcf.RootElement(model="box")
            self._mjcf_root.worldbody.add("geom", type="box", size=[0.1, 0.1, 0.1], mass=1)

        @property
        def mjcf_model(self) -> Any:
            return self._mjcf_root

    class Task(composer.Task):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self._floor = composer.Arena()
            world = self._floor.mjcf_model.worldbody
            world.add("geom", type="plane", size=[5, 5, 0.1])
            # Settling puts other joints back after each step, so that qacc is that of a new forward.
            pendulum = world.add("body", pos=[2, 0, 1])
            pendulum.add("joint", type="hinge", axis=[0, 1, 0])
            pendulum.add("geom", type="sphere", size=[0.05], pos=[0.3, 0, 0])
            box = Box()
            self._floor.add_free_entity(box)
            self._placer = initializers.PropPlacer(
                [box], position=[0, 0, 0.12], settle_physics=True, max_settle_physics_time=2.0
            )

        @property
        def root_entity(self) -> Any:
            return self._floor

        def initialize_episode(self, physics: Any, random_state: Any) -> None:
            self._placer(physics, random_state)

        def get_reward(self, physics: Any) -> float:
            return 0.0

    return composer.Environment(Task(), random_state=0)


@pytest.mark.needs("mjviser")
def test_mjviser_steps_with_stiction():
    mjviser = importlib.import_module("mjviser")
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 .1'><freejoint/>"
        "<geom type='box' size='.1 .1 .1'/></body></worldbody></mujoco>"
    )

    class EnoughError(Exception):
        """Ends the loop of the viewer."""

    def run_viewer(data: mujoco.MjData, step: Any) -> None:
        num_calls = 0

        def step_and_stop(model: mujoco.MjModel, data: mujoco.MjData) -> None:
            nonlocal num_calls
            step(model, data)
            num_calls += 1
            if num_calls == 20:
                raise EnoughError

        with pytest.raises(EnoughError):
            mjviser.Viewer(model, data, step_fn=step_and_stop).run()

    simulator = stiction.Simulator(model)
    first, second, expected = (mujoco.MjData(model) for _ in range(3))
    run_viewer(first, lambda model, data: simulator.step(data))
    with stiction.patch(second) as patch:
        run_viewer(second, mujoco.mj_step)  # what the viewer calls without step_fn
        assert patch.num_steps == 20
    stiction.Simulator(model).step(expected, 20)
    np.testing.assert_array_equal(first.qpos, expected.qpos)
    np.testing.assert_array_equal(second.qpos, expected.qpos)
