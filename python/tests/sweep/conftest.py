"""Scenes and configurations of sweeps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stiction.sweep import Plan, SweepConfig, make_plan, read_config
from stiction.sweep.table import select_repeatable

STICTION = Path(sys.executable).parent / "stiction"

# A slider that friction stops, and a ball that rolls.
SCENE = """
<mujoco>
  <option timestep="0.002"/>
  {custom}
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="slider" pos="0 0 .05">
      <freejoint/><geom name="box" type="box" size=".1 .1 .05" mass="1"/>
    </body>
    <body name="ball" pos="0 1 .05"><freejoint/><geom name="ball" size=".05" mass="{mass}"/></body>
    <body name="arm" pos="0 2 1">
      <joint name="arm" axis="0 1 0"/><geom size=".02" pos=".2 0 0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="arm" ctrlrange="-1 1" ctrllimited="true"/></actuator>
  <keyframe>
    <key qpos="0 0 .05 1 0 0 0  0 1 .05 1 0 0 0  0" qvel="1 0 0 0 0 0  .1 0 0 0 0 0  0"/>
  </keyframe>
</mujoco>
"""
CONFIG = """
scenes: slide.xml
contact_models: [lagged, rigid_coulomb, mujoco]
time_steps: [4ms, 2ms]
duration: 0.2s
grid:
  geom.*.friction: [0.3, 0.6]
"""

MakeConfig = Callable[..., Path]
Rows = list[dict[str, Any]]


@pytest.fixture
def make_config(tmp_path: Path) -> MakeConfig:
    """Writes a configuration, and the scene slide.xml beside it."""

    def make(text: str = CONFIG, *, mass: float = 0.2, custom: str = "") -> Path:
        (tmp_path / "slide.xml").write_text(SCENE.format(mass=mass, custom=custom))
        path = tmp_path / "slide.yaml"
        path.write_text(text)
        return path

    return make


@pytest.fixture
def plan_sweep(make_config: MakeConfig) -> Callable[..., tuple[SweepConfig, Plan]]:
    """Writes a configuration as make_config, and returns it with its plan."""

    def plan(*arguments: Any, **options: Any) -> tuple[SweepConfig, Plan]:
        config = read_config(make_config(*arguments, **options))
        return config, make_plan(config)

    return plan


@pytest.fixture
def sweep(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `stiction sweep` in tmp_path."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [STICTION, "sweep", *map(str, arguments)],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def read_rows() -> Callable[[Path], Rows]:
    """Returns a function that reads the repeatable values of a sweep's Parquet file."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

    def read(folder: Path) -> Rows:
        rows = parquet.read_table(folder / "sweep.parquet").to_pylist()
        return [select_repeatable(row) for row in rows]

    return read


@pytest.fixture
def count_finished() -> Callable[[Path], int]:
    """Returns a function that counts the whole lines of the journal in a folder."""

    def count(folder: Path) -> int:
        journal = folder / "rows.jsonl"
        lines = journal.read_text().splitlines(keepends=True) if journal.exists() else []
        return sum("results" in json.loads(line) for line in lines if line.endswith("\n"))

    return count
