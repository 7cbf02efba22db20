"""BatchVectorEnv has the semantics of Gymnasium: spaces, seeds, ends of episodes, infos, errors."""

from __future__ import annotations

import copy
import importlib
import subprocess
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import stiction

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("gymnasium_robotics")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import stiction.gym  # noqa: E402
from stiction.gym.locomotion import Ant  # noqa: E402
from stiction.gym.requirements import check_gymnasium, find_asset  # noqa: E402
from stiction.gym.task_names import ENVIRONMENTS  # noqa: E402

NAMES = [name for name, *_ in ENVIRONMENTS]
ANT, HAND, PICK = "stiction/Ant-v5", "stiction/HandManipulateBlock-v1", "stiction/PickAndHold-v0"
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


def make(name: str, num_envs: int = 3, **parameters: Any) -> Any:
    return gymnasium.make_vec(name, num_envs, nthread=1, **parameters)


def assert_equal(ours: Any, theirs: Any) -> None:
    """Expects the same numbers, keys and types of arrays."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            assert_equal(ours[key], theirs[key])
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        assert ours.dtype == object and len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            assert_equal(mine, other)
    elif theirs is None:
        assert ours is None
    else:
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_no_fault(name):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        env = gymnasium.make(name)
        check_env(env.unwrapped)
    faults = [str(each.message) for each in given]
    # Gymnasium's own environments get this remark too, because observations have no bounds.
    assert [each for each in faults if "observation space" not in each] == []


@pytest.mark.parametrize("name", NAMES)
def test_make_vec_finds_the_environments(name):
    envs = make(name, 2)
    assert type(envs) is stiction.gym.BatchVectorEnv
    assert (envs.num_envs, envs.batch.nsim) == (2, 2)
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space
    envs.action_space.seed(0)
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
    assert observations in envs.observation_space
    assert rewards.dtype == np.float64
    assert terminations.dtype == truncations.dtype == bool
    assert (infos["error_bound"] >= 0).all() and infos["_error_bound"].all()
    again = gymnasium.make_vec(envs.spec)  # the spec has all arguments
    assert again.num_envs == 2
    envs.close()


# SyncVectorEnv runs one environment after the other, and defines what the modes mean.
@pytest.mark.slow
@every_mode
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        (ANT, {"healthy_z_range": (0.5, 0.9), "max_episode_steps": 12}),
        (HAND, {"max_episode_steps": 2}),
        (PICK, {"max_episode_steps": 5}),
    ],
    ids=["ant", "hand", "pick"],
)
def test_episodes_end_as_in_sync_vector_env(name, parameters, mode):
    num_steps = 40 if name == ANT else 7
    sync = gymnasium.make_vec(name, 3, "sync", vector_kwargs={"autoreset_mode": mode}, **parameters)
    ours = make(name, autoreset_mode=mode, **parameters)
    assert ours.metadata["autoreset_mode"] is sync.metadata["autoreset_mode"] is mode
    for mine, other in zip(ours.reset(seed=3), sync.reset(seed=3), strict=True):
        assert_equal(mine, other)
    ours.action_space.seed(4)
    num_ends = np.zeros(2, int)
    for _ in range(num_steps):
        actions = ours.action_space.sample()
        mine, other = ours.step(actions), sync.step(actions)
        for a, b in zip(mine, other, strict=True):
            assert_equal(a, b)
        _, _, terminations, truncations, _ = mine
        num_ends += terminations.sum(), truncations.sum()
        done = terminations | truncations
        if mode is AutoresetMode.DISABLED and done.any():
            mine = ours.reset(options={"reset_mask": done.copy()})
            other = sync.reset(options={"reset_mask": done.copy()})
            for a, b in zip(mine, other, strict=True):
                assert_equal(a, b)
    assert num_ends[1] > 0
    assert num_ends[0] > 0 or name != ANT


def test_all_modes_are_declared():
    for given in (*AutoresetMode, "NextStep", "SameStep", "Disabled"):
        envs = make(ANT, 1, autoreset_mode=given)
        assert envs.metadata["autoreset_mode"] is AutoresetMode(given)
        assert envs.metadata["autoreset_modes"] == tuple(AutoresetMode)


def test_the_last_observation_of_an_episode_is_kept():
    envs = make(PICK, max_episode_steps=3, autoreset_mode="SameStep")
    twin = make(PICK, max_episode_steps=3, autoreset_mode="Disabled")
    envs.reset(seed=1)
    twin.reset(seed=1)
    actions = np.full((3, 3), 0.5, np.float32)
    for _ in range(3):
        observations, _, _, truncations, infos = envs.step(actions)
        last, _, _, _, values = twin.step(actions)
    assert truncations.all() and infos["_final_obs"].all()
    assert (np.stack(list(infos["final_obs"])) == last).all()
    assert (infos["final_info"]["error_bound"] == values["error_bound"]).all()
    assert (observations != last).any()
    assert "error_bound" not in infos  # no simulation has stepped since its reset


@pytest.mark.parametrize("seed", ["a", -1, 0.5, ["a", 1, 2], [-1, 1, 2]])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(stiction.Error, match="seed: is "):
        make(ANT).reset(seed=seed)
    if not isinstance(seed, list):
        with pytest.raises(stiction.Error, match="seed: is "):
            gymnasium.make(ANT).reset(seed=seed)


def test_closed_environments_take_no_steps():
    envs, env = make(ANT), gymnasium.make(ANT).unwrapped
    for each in (envs, env):
        each.reset(seed=1)
        each.close()
        each.close()
        for call in (lambda each=each: each.step(each.action_space.sample()), each.reset):
            with pytest.raises(stiction.Error, match="the environments are closed; make new ones"):
                call()


def test_seeds_belong_to_environments():
    envs = make(PICK)
    first, _ = envs.reset(seed=7)
    assert envs.np_random_seed == (7, 8, 9)
    again, _ = envs.reset()
    assert (again != first).any(axis=1).all()  # generators go on
    one, _ = envs.reset(seed=[8, None, 7])
    assert (one[0] == first[1]).all() and (one[2] == first[0]).all()
    assert (one[1] != first[1]).any()
    mask = np.array([False, True, False])
    part, infos = envs.reset(seed=7, options={"reset_mask": mask})
    assert (part[1] == first[1]).all() and (part[[0, 2]] == one[[0, 2]]).all()
    assert infos == {}
    envs.np_random = [np.random.default_rng(i) for i in range(3)]
    assert envs.np_random_seed == (-1, -1, -1)
    unseeded = make(PICK)
    assert len(set(unseeded.np_random_seed)) == 3


# Episodes end at different steps, so simulations are stepped in changing groups.
@pytest.mark.parametrize("contact_model", ["coulomb", "sap", "mujoco"])
def test_results_do_not_depend_on_threads_and_neighbours(contact_model):
    results = []
    for num_envs, nthread in ((7, 1), (7, 2), (7, 5), (3, 2)):
        envs = gymnasium.make_vec(
            ANT, num_envs, nthread=nthread, contact_model=contact_model, max_episode_steps=9,
            healthy_z_range=(0.5, 0.85),
        )  # fmt: skip
        rows = [envs.reset(seed=0)[0][:3]]
        actions = np.random.default_rng(0).uniform(-1, 1, (30, 7, 8)).astype(np.float32)
        for action in actions:
            observations, rewards, terminations, _, infos = envs.step(action[:num_envs])
            bounds = infos.get("error_bound", np.zeros(7))  # absent if all begin an episode
            rows += [observations[:3], rewards[:3], terminations[:3], bounds[:3]]
        results.append(rows)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_returned_arrays_do_not_change_later():
    envs = make(PICK)
    kept = [envs.reset(seed=0), envs.step(np.zeros((3, 3), np.float32))]
    before = copy.deepcopy(kept)
    envs.step(np.ones((3, 3), np.float32))
    for a, b in zip(kept, before, strict=True):
        for x, y in zip(a, b, strict=True):
            assert_equal(x, y)


def test_an_environment_must_be_reset_first():
    envs = make(PICK, autoreset_mode="Disabled", max_episode_steps=1)
    actions = np.zeros((3, 3), np.float32)
    with pytest.raises(stiction.gym.ResetNeededError, match=r"environment 0: .*call reset\(\)"):
        envs.step(actions)
    envs.reset(seed=0)
    envs.step(actions)
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(gymnasium.error.ResetNeeded, match="environment 1: .*its episode is over"):
        envs.step(actions)


def test_failed_steps():
    envs = make(PICK)
    envs.reset(seed=0)
    envs.batch.qvel[1] = np.nan
    with pytest.raises(stiction.SimulationError, match="1 of 3 simulations"):
        envs.step(np.zeros((3, 3), np.float32))
    envs = make(PICK, on_failure="stop")
    envs.reset(seed=0)
    envs.batch.qvel[1] = np.nan
    *_, terminations, truncations, infos = envs.step(np.zeros((3, 3), np.float32))
    assert list(truncations) == [False, True, False] and not terminations.any()
    assert infos["error_bound"][1] == np.inf and (infos["error_bound"][[0, 2]] < 1).all()
    observations, *_, truncations, _ = envs.step(np.zeros((3, 3), np.float32))
    assert np.isfinite(observations).all() and not truncations.any()


def test_arguments_are_checked():
    with pytest.raises(stiction.Error, match="num_envs: is 0, must be"):
        make(ANT, 0)
    with pytest.raises(stiction.Error, match="frame_skip: is 0"):
        make(ANT, frame_skip=0)
    with pytest.raises(stiction.Error, match="max_episode_steps: is 0"):
        make(ANT, max_episode_steps=0)
    with pytest.raises(stiction.Error, match="autoreset_mode: is 'never'.*'NextStep', 'SameStep'"):
        make(ANT, autoreset_mode="never")
    with pytest.raises(stiction.Error, match="reward_type: .*sparse"):
        make(HAND, reward_type="spars")
    with pytest.raises(TypeError, match="no parameter 'ctrl_cost' of Ant.*'ctrl_cost_weight'"):
        make(ANT, ctrl_cost=1)
    with pytest.raises(TypeError, match="no parameter 'tolerence' of Ant.*'tolerance'"):
        make(ANT, tolerence=1)
    with pytest.raises(stiction.Error, match="render_mode: is 'rgb_array', but .*draw no pictures"):
        make(ANT, render_mode="rgb_array")
    with pytest.raises(stiction.Error, match="task: is 'stiction.gym.locomotion:Bee'"):
        stiction.gym.BatchVectorEnv("stiction.gym.locomotion:Bee")
    with pytest.raises(stiction.Error, match="task: is 3, must be a Task"):
        stiction.gym.BatchVectorEnv(3)  # type: ignore[arg-type]
    envs = make(PICK)
    envs.reset(seed=0)
    with pytest.raises(stiction.Error, match=r"actions: has the shape \(3,\), must have \(3, 3\)"):
        envs.step(np.zeros(3))
    with pytest.raises(stiction.Error, match="seed: has 2 seeds, must have"):
        envs.reset(seed=[1, 2])
    with pytest.raises(stiction.Error, match=r"reset_mask'\]: is .*array of 3 bools"):
        envs.reset(options={"reset_mask": [True, False, True]})
    with pytest.raises(stiction.Error, match=r"reset_mask'\]: is False for all"):
        envs.reset(options={"reset_mask": np.zeros(3, bool)})


def test_options_are_those_of_a_batch():
    envs = make(ANT, 1, contact_model="sap", tolerance=1e-7, time_step=0.005, frame_skip=10)
    assert envs.batch.options["contact_model"] == "sap"
    assert envs.batch.options["tolerance"] == 1e-7
    assert envs.task.dt == pytest.approx(0.05)


@dataclass
class Hover(Ant):
    """A task of a user: as Ant, with a reward for height."""

    target_height: float = 0.6

    def evaluate(self, actions: Any) -> Any:
        _, terminations, infos = super().evaluate(actions)
        return -np.abs(self.qpos[:, 2] - self.target_height), terminations, infos


def test_a_task_of_the_user():
    for task in (Hover(target_height=0.5), Hover):
        envs = stiction.gym.BatchVectorEnv(task, 2, nthread=1)
        envs.reset(seed=0)
        _, rewards, *_ = envs.step(np.zeros((2, 8), np.float32))
        assert (rewards == -np.abs(envs.batch.qpos[:, 2] - envs.task.target_height)).all()


@every_mode
def test_wrappers_of_gymnasium_take_the_environments(mode):
    wrappers = importlib.import_module("gymnasium.wrappers.vector")
    envs = make(PICK, max_episode_steps=4, autoreset_mode=mode)
    envs = wrappers.RecordEpisodeStatistics(envs)
    if mode is AutoresetMode.NEXT_STEP:  # the only mode that this wrapper takes
        envs = wrappers.NormalizeObservation(envs)
    envs.reset(seed=0)
    for _ in range(4):
        *_, truncations, infos = envs.step(np.zeros((3, 3), np.float32))
    assert truncations.all()
    episode = infos["episode"]
    assert (episode["l"] == 4).all() and (episode["r"] < 0).all()


def test_missing_packages_are_named(monkeypatch):
    find_spec = importlib.util.find_spec
    hidden = {"gymnasium", "gymnasium_robotics"}
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in hidden else find_spec(name)
    )
    with pytest.raises(ImportError, match=r'not installed; run pip install "stiction\[gym\]"'):
        check_gymnasium()
    with pytest.raises(
        stiction.Error, match=r'run pip install "stiction\[gym\]" gymnasium-robotics'
    ):
        find_asset("gymnasium_robotics", "envs/assets/hand/manipulate_block.xml")
    hidden.clear()
    with pytest.raises(stiction.Error, match="does not exist, although gymnasium is installed"):
        find_asset("gymnasium", "no_such.xml")
    monkeypatch.setattr("stiction.gym.requirements.version", lambda name: "1.2.3")
    with pytest.raises(ImportError, match=r"needs Gymnasium 1\.4 or later, but 1\.2\.3"):
        check_gymnasium()


def test_stiction_alone_does_not_import_gymnasium():
    program = "import sys, stiction; stiction.Batch; sys.exit('gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
