"""Tests that the programs on the first pages run, and print what these pages say.

The blocks of a page are one program. A block that needs Drake is left out if Drake is not installed.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction

ROOT = Path(__file__).resolve().parents[3]


def read_blocks(page: str) -> list[str]:
    """Returns the blocks of Python of a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def run_program(page: str) -> list[str]:
    """Runs the program of a page in the repository's folder, and returns the lines that it prints."""
    has_drake = importlib.util.find_spec("pydrake") is not None
    blocks = [each for each in read_blocks(page) if has_drake or "pydrake" not in each]
    assert blocks
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_the_program_of_the_start_page_runs() -> None:
    *patches, bound = run_program("docs/index.md")
    assert [line.split()[:2] for line in patches] == [
        ["left_bubble", "handle"],
        ["right_bubble", "handle"],
    ]
    # Each bubble presses with 16 N.
    for line in patches:
        area, pressure = (float(x) for x in re.findall(r"(\d+) mm², at most (\d+) Pa", line)[0])
        assert 16 / (1e-6 * area) < pressure < 64 / (1e-6 * area)
    assert float(re.findall(r"at most (\S+) m/s", bound)[0]) < 1e-3


def test_the_box_of_the_readme_sticks() -> None:
    bound, *contacts = run_program("README.md")
    assert float(re.findall(r"at most (\S+) m/s", bound)[0]) < 2e-6
    assert [line.split()[-1] for line in contacts] == ["sticks"] * 4


def test_the_program_of_the_readme_needs_only_stiction_and_mujoco() -> None:
    (block,) = read_blocks("README.md")
    assert re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE) == ["mujoco", "stiction"]


def test_the_readme_says_how_fast_its_box_creeps() -> None:
    (block,) = read_blocks("README.md")
    names: dict[str, mujoco.MjModel] = {}
    exec(block.partition("data = ")[0], names)
    model = names["model"]
    by_stiction, by_mujoco = mujoco.MjData(model), mujoco.MjData(model)
    stiction.Simulator(model).step(by_stiction, 1000)
    mujoco.mj_step(model, by_mujoco, 1000)
    assert "stays on the slope, without creep" in read("README.md")
    assert np.linalg.norm(by_stiction.qvel[:3]) < 1e-9
    (said,) = re.findall(r"under `mj_step` it creeps at (\d+) µm/s", read("README.md"))
    assert f"{1e6 * np.linalg.norm(by_mujoco.qvel[:3]):.0f}" == said


def test_a_stiffness_from_solref_gives_the_same_depth() -> None:
    by_mujoco, by_stiction = run_program("docs/from_mujoco.md")
    stiffness, depth = re.findall(r"(\S+) N/m; depth (\S+) mm", by_mujoco)[0]
    assert by_stiction == f"depth {depth} mm by Stiction"
    assert f"This prints {stiffness} N/m and twice {depth} mm." in read("docs/from_mujoco.md")


def test_the_ball_of_drake_moves_as_the_page_says() -> None:
    page = read("docs/from_drake.md")
    motion, force = [
        [float(number) for number in re.findall(r"-?[\d.]+(?:e[+-]\d+)?", line)]
        for line in run_program("docs/from_drake.md")[-2:]
    ]
    row = re.findall(r"\| Stiction, `lagged` \| (\S+) m \| (\S+) m \| (\S+) m/s \| (\S+) N", page)
    height, distance, speed, load = (float(number) for number in row[0])
    assert motion[2] == pytest.approx(height, abs=1e-8)
    assert motion[0] == pytest.approx(distance, abs=6e-5)
    assert motion[3] == pytest.approx(speed, abs=6e-5)
    assert -force[2] == pytest.approx(load, abs=6e-4)
    # 1e5 and 1e6 N/m in series carry 2 kg.
    assert height == pytest.approx(0.1 - 2 * 9.81 * (1e-5 + 1e-6), abs=1e-8)


@pytest.mark.slow
def test_the_vector_environments_run() -> None:
    pytest.importorskip("gymnasium", reason="scenes of other packages are not installed")
    observations, rewards = run_program("docs/gym.md")
    *shape, bound = re.findall(r"[\d.e-]+", observations)
    assert shape == ["64", "105"]
    assert 0 < float(bound) < 1e-4
    assert rewards == "(16,)"


@pytest.mark.slow
def test_environments_of_other_packages_step_with_stiction() -> None:
    for package in ("gymnasium", "dm_control"):
        pytest.importorskip(package, reason="scenes of other packages are not installed")
    status, num_steps = run_program("docs/from_gymnasium.md")
    assert status == "ok {}"
    assert int(num_steps) > 0


def read(page: str) -> str:
    """Returns a page with single spaces."""
    return " ".join((ROOT / page).read_text().split())
