"""The environments of stiction.gym give what Gymnasium's own give, from the same states and actions.

Under the contact model 'mujoco' a step has the bits of mj_step. Sums over arrays have another order
than in Gymnasium, so numbers agree to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("gymnasium_robotics")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

import stiction.gym  # noqa: E402

NUM_ENVS = 3
NUM_STEPS = 60
STATE = mujoco.mjtState.mjSTATE_INTEGRATION
NAMES = ["Ant-v5", "Humanoid-v5", "HandManipulateBlock-v1", "HandManipulateBlockDense-v1"]
every_name = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def repaired_for_mujoco_4() -> Iterator[None]:
    """Lets gymnasium-robotics run with MuJoCo 4."""
    with stiction.patch("gymnasium_robotics", contact_model="mujoco"):
        import gymnasium_robotics

        gymnasium.register_envs(gymnasium_robotics)
        yield


def make_both(name: str, **parameters: Any) -> tuple[list[Any], Any]:
    theirs = [gymnasium.make(name, **parameters) for _ in range(NUM_ENVS)]
    ours = gymnasium.make_vec(
        f"stiction/{name}", NUM_ENVS, contact_model="mujoco", nthread=1, **parameters
    )
    return theirs, ours


def copy_states(theirs: list[Any], ours: Any) -> None:
    """Gives our simulations the states of theirs, and the goals where there are goals."""
    for i, env in enumerate(theirs):
        inner = env.unwrapped
        mujoco.mj_getState(inner.model, inner.data, ours.batch.state[i], STATE)
        if hasattr(inner, "goal"):
            ours.task.goals[i] = inner.goal
    ours.batch.forward()
    for i, env in enumerate(theirs):  # forward() changes the warm start
        mujoco.mj_getState(env.unwrapped.model, env.unwrapped.data, ours.batch.state[i], STATE)


def assert_close(ours: Any, theirs: Any, tolerance: float) -> None:
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key, value in ours.items():
            assert_close(value, theirs[key], tolerance)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def take(observations: Any, i: int) -> Any:
    if isinstance(observations, dict):
        return {key: value[i] for key, value in observations.items()}
    return observations[i]


@every_name
def test_spaces_are_the_same(name):
    theirs, ours = make_both(name)
    assert ours.single_observation_space == theirs[0].observation_space
    assert ours.single_action_space == theirs[0].action_space
    assert ours.task.dt == pytest.approx(theirs[0].unwrapped.dt, rel=1e-15)
    assert ours.spec.max_episode_steps == theirs[0].spec.max_episode_steps
    assert ours.max_episode_steps == theirs[0].spec.max_episode_steps


@every_name
def test_a_seed_gives_the_same_first_observations(name):
    theirs, ours = make_both(name)
    observations, infos = ours.reset(seed=5)
    for i, env in enumerate(theirs):
        observation, info = env.reset(seed=5 + i)
        # The blocks settle for 200 steps, which amplify the rounding of their first rotation.
        assert_close(take(observations, i), observation, 1e-7 if "Hand" in name else 1e-15)
        assert info.keys() == {key for key in infos if not key.startswith("_")}
        assert_close({key: infos[key][i] for key in info}, info, 1e-15)


@every_name
def test_steps_from_the_same_states_are_the_same(name):
    theirs, ours = make_both(name)
    ours.reset(seed=1)
    for i, env in enumerate(theirs):
        env.reset(seed=1 + i)
    copy_states(theirs, ours)
    ours.action_space.seed(2)
    touches = 0.0
    for _ in range(NUM_STEPS):
        actions = ours.action_space.sample()
        observations, rewards, terminations, truncations, infos = ours.step(actions)
        for i, env in enumerate(theirs):
            observation, reward, terminated, truncated, info = env.step(actions[i])
            # The bits of the positions and velocities are the same.
            assert (ours.batch.qpos[i] == env.unwrapped.data.qpos).all()
            assert (ours.batch.qvel[i] == env.unwrapped.data.qvel).all()
            assert_close(take(observations, i), observation, 1e-12)
            # Gymnasium sums squares of Ant's actions as float32.
            assert rewards[i] == pytest.approx(reward, rel=1e-6, abs=1e-6)
            assert (terminations[i], truncations[i]) == (terminated, truncated)
            assert info.keys() == {
                key for key in infos if not key.startswith("_") and key != "error_bound"
            }
            assert_close({key: infos[key][i] for key in info}, info, 1e-6)
            touches += np.abs(env.unwrapped.data.qfrc_constraint).sum()
        if terminations.any():
            break
    assert touches > 0


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Ant-v5", {"include_cfrc_ext_in_observation": False, "ctrl_cost_weight": 0.1}),
        ("Ant-v5", {"exclude_current_positions_from_observation": False, "frame_skip": 2}),
        ("Ant-v5", {"main_body": "front_left_leg", "healthy_z_range": (0.74, 0.76)}),
        ("Humanoid-v5", {"include_cinert_in_observation": False, "healthy_reward": 1.0}),
        ("Humanoid-v5", {"include_cvel_in_observation": False, "contact_cost_range": (0.1, 0.2)}),
        ("Humanoid-v5", {"include_qfrc_actuator_in_observation": False}),
        ("HandManipulateBlock-v1", {"target_position": "ignore", "target_rotation": "z"}),
        ("HandManipulateBlock-v1", {"distance_threshold": 10.0, "rotation_threshold": 10.0}),
    ],
)
def test_parameters_have_the_same_effect(name, parameters):
    theirs, ours = make_both(name, **parameters)
    observations, _ = ours.reset(seed=8)
    for i, env in enumerate(theirs):
        assert_close(take(observations, i), env.reset(seed=8 + i)[0], 1e-7)
    copy_states(theirs, ours)
    ours.action_space.seed(2)
    for _ in range(3):
        actions = ours.action_space.sample()
        observations, rewards, terminations, _, _ = ours.step(actions)
        for i, env in enumerate(theirs):
            observation, reward, terminated, _, _ = env.step(actions[i])
            assert_close(take(observations, i), observation, 1e-12)
            assert rewards[i] == pytest.approx(reward, rel=1e-6, abs=1e-6)
            assert terminations[i] == terminated
        if terminations.any():
            break


def test_goals_of_hindsight_get_the_same_rewards():
    random = np.random.default_rng(0)
    poses = random.normal(size=(2, 50, 7))
    poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    poses[1, :20] = poses[0, :20] + 1e-3
    for name in ("HandManipulateBlock-v1", "HandManipulateBlockDense-v1"):
        theirs, ours = make_both(name)
        expected = theirs[0].unwrapped.compute_reward(*poses, {})
        np.testing.assert_allclose(ours.task.compute_reward(*poses, {}), expected, atol=1e-12)
