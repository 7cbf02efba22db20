"""The task PickAndHold: what it rewards, when it ends, and that creep decides."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import stiction.gym  # noqa: E402

NUM_ENVS = 4
FORCE = 0.5  # fraction of the largest force with which the grip closes

gymnasium.register_envs(stiction.gym)


def make(**parameters: Any) -> Any:
    envs = gymnasium.make_vec("stiction/PickAndHold-v0", NUM_ENVS, nthread=1, **parameters)
    envs.reset(seed=0)
    return envs


def grasp(observations: np.ndarray) -> np.ndarray:
    """Returns actions that lower the hand on the cube, close it, and lift the cube by 0.1 m."""
    x, _, z = observations[:, :3].T
    closed = observations[:, 10]
    is_gripped = closed > 0.013
    across = 20 * x
    down = np.where(np.abs(x) < 0.005, 20 * z, 0)
    vertical = np.where(is_gripped, 20 * (0.1 - observations[:, 7]), down)
    is_near = (np.abs(x) < 0.005) & (np.abs(z) < 0.005)
    force = np.where(is_near | is_gripped, FORCE, -0.2)
    return np.stack([np.where(is_gripped, 0, across), vertical, force], axis=1)


def run(envs: Any, num_steps: int) -> tuple[np.ndarray, list[Any]]:
    """Returns the last observations, and what each step gave after them."""
    observations, _ = envs.reset(seed=0)
    steps = []
    for _ in range(num_steps):
        observations, *rest = envs.step(grasp(observations))
        steps.append(rest)
    return observations, steps


def find_poses(envs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the positions of the cube and of the middle of the pads, by MuJoCo's kinematics."""
    cube = envs.batch.body("cube").xpos
    left, right = (envs.batch.geom(name).xpos for name in ("left_pad", "right_pad"))
    envs.batch.forward(stage=mujoco.mjtStage.mjSTAGE_POS.value)
    return cube.copy(), (left + right) / 2


def test_a_cube_is_grasped_lifted_and_held():
    observations, steps = run(make(), 140)
    infos = steps[-1][-1]
    assert infos["is_held"].all()
    np.testing.assert_allclose(infos["height"], 0.1, atol=2e-3)
    assert (infos["drift"] < 50e-6).all()
    assert (infos["creep_speed"] < 30e-6).all()
    assert (infos["error_bound"] < 1e-4).all()
    assert (observations[:, 12] == 1).all()
    assert (observations[:, 13] == infos["drift"]).all()


def test_observations_are_those_of_mujocos_kinematics():
    envs = make()
    observations, _ = run(envs, 140)
    cube, hand = find_poses(envs)
    np.testing.assert_allclose(observations[:, :3], cube - hand, atol=1e-12)
    # Velocities are differences over a short step.
    before = cube - hand
    envs.batch.step()
    cube, hand = find_poses(envs)
    np.testing.assert_allclose(observations[:, 3:6], (cube - hand - before) / 0.002, atol=1e-3)


def test_the_reward_is_the_documented_formula():
    envs = make(drift_limit=2e-4, squeeze_weight=0.3, hold_weight=1.5, reach_weight=4.0)
    observations, _ = envs.reset(seed=0)
    held_before, place = np.zeros(NUM_ENVS, bool), np.zeros((NUM_ENVS, 3))
    seen = set()
    for _ in range(140):
        actions = grasp(observations)
        observations, rewards, terminations, _, infos = envs.step(actions)
        relative = observations[:, :3]
        distance = np.linalg.norm(relative, axis=1)
        height = envs.batch.qpos[:, 6] - 0.02
        held = (height >= 0.05) & (distance <= 0.03)
        begins = held & ~held_before
        place[begins] = relative[begins]
        drift = np.linalg.norm(relative - place, axis=1) * held
        expected = (
            np.clip(height, 0, 0.1) / 0.1
            - 4.0 * distance
            - 0.3 * np.clip(actions[:, 2], 0, 1) ** 2
            + 1.5 * held * np.maximum(0, 1 - drift / 2e-4)
        )
        np.testing.assert_allclose(rewards, expected, atol=1e-7)
        np.testing.assert_allclose(infos["drift"], drift, atol=1e-15)
        assert not terminations.any()
        held_before = held
        seen |= set(held)
    assert seen == {False, True}


def test_an_episode_ends_when_the_cube_is_lost():
    envs = make()
    observations, _ = run(envs, 120)
    actions = grasp(observations)
    actions[1, 2] = -1  # opens one hand
    for _ in range(20):
        _, _, terminations, truncations, infos = envs.step(actions)
        if terminations.any():
            break
    assert list(terminations) == [False, True, False, False]
    assert not truncations.any()
    assert list(infos["is_held"]) == [True, False, True, True]


def test_creep_decides_the_reward_of_a_hold():
    returns, creep = {}, {}
    for contact_model in ("mujoco", "coulomb"):
        _, steps = run(make(contact_model=contact_model), 150)
        returns[contact_model] = np.sum([step[0] for step in steps], axis=0)
        creep[contact_model] = steps[-1][-1]["creep_speed"]
    # MuJoCo's cube creeps by 1.4 mm/s, so it soon earns nothing for being held.
    assert (creep["mujoco"] > 1e-3).all()
    assert (creep["coulomb"] < 5e-5).all()
    assert (returns["coulomb"] > returns["mujoco"] + 50).all()


def test_cubes_begin_within_the_noise():
    envs = make(position_noise=0.02, angle_noise=0.3)
    random = [np.random.default_rng(i).uniform(-1, 1, 3) for i in range(NUM_ENVS)]
    envs.reset(seed=0)
    qpos = envs.batch.qpos
    np.testing.assert_allclose(qpos[:, 4], 0.02 * np.array(random)[:, 0])
    np.testing.assert_allclose(qpos[:, 5], 0.002 * np.array(random)[:, 1])
    np.testing.assert_allclose(2 * np.arcsin(qpos[:, 10]), 0.3 * np.array(random)[:, 2])


def test_velocities_of_the_palm_are_limited():
    envs = make()
    before = envs.batch.ctrl.copy()
    envs.step(np.full((NUM_ENVS, 3), 7.0))
    np.testing.assert_allclose(envs.batch.ctrl[:, :2] - before[:, :2], 0.25 * 0.02)
    assert (envs.batch.ctrl[:, 2:] == 20).all()
    for _ in range(50):
        envs.step(np.full((NUM_ENVS, 3), 1.0))
    np.testing.assert_allclose(envs.batch.ctrl[:, :2], [[0.1, 0.2]] * NUM_ENVS)
