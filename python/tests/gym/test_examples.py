"""The examples of examples/gym run, and their parts are right."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

FOLDER = Path(__file__).parents[3] / "examples" / "gym"


def run(folder: Path, name: str, *arguments: str, code: int = 0) -> str:
    """Runs an example in a folder, and returns what it prints, errors included."""
    result = subprocess.run(
        [sys.executable, FOLDER / name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == code, result.stderr
    return result.stdout + result.stderr


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that imports a module of the examples."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = {path.stem for path in FOLDER.glob("*.py")}
    yield importlib.import_module
    for name in names & set(sys.modules):
        del sys.modules[name]


@pytest.mark.slow
def test_pick_and_hold_is_trained_and_replayed(tmp_path: Path) -> None:
    text = run(tmp_path, "train_pick_and_hold.py", "--generations", "2")
    first, last = (float(x) for x in re.findall(r"return +(-?[\d.]+)  held", text))
    assert last > first
    assert (tmp_path / "out/pick_and_hold.png").stat().st_size > 1000
    text = run(tmp_path, "replay_grasp.py", "--seconds", "0.4")
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["mujoco", "coulomb"]
    assert (tmp_path / "out/grasp_drift.png").stat().st_size > 1000


@pytest.mark.slow
def test_ant_is_trained(tmp_path: Path) -> None:
    text = run(tmp_path, "train_ant.py", "--steps", "49152", "--episode", "40")
    assert "49,152 steps  return" in text
    before, after = re.findall(r"(?:before|after): return (-?\d+), (-?[\d.]+) m/s", text)
    # After 12 updates the ant walks at 0.19 m/s, and has a return of 47 in place of 40.
    assert float(after[0]) > float(before[0]) + 2
    assert float(after[1]) > float(before[1]) + 0.08
    assert (tmp_path / "out/ant.npz").is_file()
    assert (tmp_path / "out/ant.png").stat().st_size > 1000


@pytest.mark.slow
def test_a_missing_policy_is_named(tmp_path: Path) -> None:
    text = run(tmp_path, "replay_grasp.py", code=2)
    assert "out/grasp.npz does not exist; run train_pick_and_hold.py first" in text


@pytest.mark.slow
def test_torch_is_optional(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        text = run(tmp_path, "train_torch.py", code=1)
        assert (
            'needs PyTorch, which is not installed; run pip install "stiction[gym,torch]"' in text
        )
    else:
        text = run(tmp_path, "train_torch.py", "--steps", "8192", "--episode", "20")
        assert "8,192 steps  return" in text
        assert (tmp_path / "out/ant_torch.pt").is_file()


def test_the_evolution_strategy_finds_a_maximum(modules: Any) -> None:
    strategy = modules("evolution").EvolutionStrategy(
        np.zeros(5), 20, 0.1, 0.05, np.random.default_rng(0)
    )
    best = np.array([1.0, -1, 0.5, 0, 2])
    for _ in range(150):
        strategy.tell(-np.square(strategy.ask() - best).sum(axis=1))
    np.testing.assert_allclose(strategy.mean, best, atol=0.1)


def test_a_linear_policy_is_one_policy_or_many(modules: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    policy = modules("linear_policy").LinearPolicy(4, 2)
    rows = random.normal(3, 2, (50, 4))
    for part in (rows[:10], rows[10:]):
        policy.learn_scale(part)
    np.testing.assert_allclose(policy.mean, rows.mean(axis=0))
    np.testing.assert_allclose(policy.scale, rows.std(axis=0))
    many = random.normal(size=(50, policy.weights.size))
    policy.weights = many
    together = policy.act(rows)
    for i in (0, 20):
        policy.weights = many[i]
        np.testing.assert_allclose(policy.act(rows[i : i + 1])[0], together[i], rtol=1e-6)
    policy.save(tmp_path / "policy.npz")
    again = type(policy).load(tmp_path / "policy.npz")
    assert (again.act(rows) == policy.act(rows)).all()


def test_the_gradient_of_ppo_is_that_of_its_objective(modules: Any) -> None:
    """Differences of the objective, which is written a second time here, in double precision."""
    random = np.random.default_rng(0)
    agent = modules("numpy_agent").Agent(3, 2, 0.5, random)
    parameters = [*agent.policy.parameters, agent.log_deviation, *agent.value.parameters]
    for p in parameters:  # first outputs are small
        p += 0.1 * random.standard_normal(p.shape).astype(np.float32)
    n, clip = 64, 0.2
    batch = {
        "states": random.standard_normal((n, 3)).astype(np.float32),
        "actions": random.standard_normal((n, 2)).astype(np.float32),
        "advantages": random.standard_normal(n).astype(np.float32),
        "targets": random.standard_normal(n).astype(np.float32),
    }
    means = agent.policy(batch["states"])
    change = random.uniform(-0.5, 0.5, n).astype(np.float32)
    batch["log_probabilities"] = agent.calc_log_probability(batch["actions"], means) + change
    gradient = agent.calc_gradient(batch, clip)

    def calc_objective(values: list[np.ndarray]) -> float:
        policy, log_deviation, value = values[:6], values[6], values[7:]
        means, estimates = _evaluate(policy, batch["states"]), _evaluate(value, batch["states"])
        normal = (batch["actions"] - means) / np.exp(log_deviation)
        density = -(0.5 * normal**2 + log_deviation).sum(axis=1)
        ratio = np.exp(density - batch["log_probabilities"].astype(float))
        a = batch["advantages"].astype(float)
        a = (a - a.mean()) / a.std()
        gain = np.minimum(ratio * a, np.clip(ratio, 1 - clip, 1 + clip) * a).mean()
        return float(-gain + 0.5 * np.square(estimates[:, 0] - batch["targets"]).mean())

    exact = [p.astype(float) for p in parameters]
    for i, p in enumerate(exact):
        direction = random.standard_normal(p.shape)
        sides = []
        for sign in (1, -1):
            moved = list(exact)
            moved[i] = p + sign * 1e-5 * direction
            sides.append(calc_objective(moved))
        slope = (sides[0] - sides[1]) / 2e-5
        assert (gradient[i] * direction).sum() == pytest.approx(slope, rel=1e-3, abs=1e-5)


def _evaluate(parameters: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    for i in range(0, len(parameters), 2):
        rows = rows @ parameters[i] + parameters[i + 1]
        if i < len(parameters) - 2:
            rows = np.tanh(rows)
    return rows


def test_advantages_end_with_episodes(modules: Any) -> None:
    ppo = modules("ppo")
    trainer = ppo.Trainer.__new__(ppo.Trainer)
    trainer.settings = ppo.Settings(discount=0.5, trace=0.5)
    rewards = np.array([[1.0], [2.0], [4.0]], np.float32)
    zeros = np.zeros_like(rewards)
    done = np.array([[False], [True], [False]])
    advantages = trainer._calc_advantages(rewards, zeros, zeros, done)
    assert list(advantages[:, 0]) == [1.5, 2.0, 4.0]
