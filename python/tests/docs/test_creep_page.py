"""Tests the page on creep: its numbers are those of the formula and of runs."""

from __future__ import annotations

import math
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction

PAGE = (Path(__file__).parents[3] / "docs" / "creep.md").read_text(encoding="utf-8")

# A block at half of its friction bound, and a hinge whose dry friction holds half of its bound.
BLOCK = f"""
<mujoco><option timestep="0.002"/><worldbody>
  <geom type="plane" size="2 2 .1" friction="0.8" euler="0 {math.degrees(math.atan(0.4))} 0"/>
  <body euler="0 {math.degrees(math.atan(0.4))} 0" pos="{0.05 * math.sin(math.atan(0.4))} 0
    {0.05 * math.cos(math.atan(0.4))}"><freejoint/>
    <geom type="box" size=".1 .1 .05" mass="1" friction="0.8"/></body>
</worldbody></mujoco>
"""
HINGE = """
<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
  <body><joint type="hinge" axis="0 0 1" frictionloss="1"/>
    <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/></body>
</worldbody></mujoco>
"""


def read_row(name: str) -> list[str]:
    """Returns the cells of a table's row, without its name."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {name}"))
    return [cell.strip() for cell in row.strip("|").split("|")[1:]]


def read_number(text: str) -> float:
    match = re.search(r"[\d.]+(?:e-?\d+)?", text)
    assert match, text
    return float(match[0])


def measure_speed(xml: str, *, force: float = 0.0, **options: str) -> float:
    """Returns the speed of the first coordinate over the second half of 1 s [m/s or rad/s]."""
    model = mujoco.MjModel.from_xml_string(xml)
    data, simulator = mujoco.MjData(model), stiction.Simulator(model, **options)
    data.qfrc_applied[-1] = force
    simulator.step(data, nstep=250)
    start = data.qpos[:3].copy()
    simulator.step(data, nstep=250)
    return float(np.linalg.norm(data.qpos[:3] - start)) / 0.5


def test_speeds_are_those_of_the_formula() -> None:
    shares = [float(cell) for cell in read_row("share ")]
    speeds = [read_number(cell) for cell in read_row("creep at 1e-4 m/s")]
    paths = [read_number(cell) for cell in read_row("in a minute")]
    assert len(shares) == len(speeds) == len(paths) == 5
    for share, speed, path in zip(shares, speeds, paths, strict=True):
        exact = 1e-4 * share / math.sqrt(1 - share**2)
        assert 1e-6 * speed == pytest.approx(exact, rel=0.03)  # two digits
        assert 1e-3 * path == pytest.approx(60 * exact, rel=0.06)


def test_contacts_creep_under_the_laws_that_the_page_names() -> None:
    soft, elastic, rigid, _ = read_row("contacts at half of their friction bound")
    creep = measure_speed(BLOCK, friction_law="soft")
    assert creep == pytest.approx(1e-6 * read_number(soft), rel=0.02)
    assert measure_speed(BLOCK) < 1e-11
    assert read_number(elastic) <= 1e-5
    for model in ("no_slip", "rigid_coulomb"):
        assert measure_speed(BLOCK, contact_model=model) < 1e-6 * read_number(rigid)


@pytest.mark.slow
def test_the_arch_stands_at_a_step_of_ten_milliseconds() -> None:
    scene = stiction.load_scene(Path(__file__).parents[3] / "scenes" / "arch.xml")
    simulator = stiction.Simulator(scene.model, properties=scene.properties, time_step=0.01)
    data = scene.make_data()
    simulator.step(data, 2000)
    start = data.xpos.copy()
    for _ in range(13):
        simulator.step(data, 1000)
        assert np.abs(data.xpos - start).max() < 1e-6, data.time


def test_joints_creep_unless_the_law_is_elastic() -> None:
    soft, elastic, rigid, mujoco_step = read_row("a [joint held by `frictionloss`]")
    own = measure_speed(HINGE, force=0.5, friction_law="soft")
    assert own == pytest.approx(1e-6 * read_number(soft), rel=0.02)
    spring = measure_speed(HINGE, force=0.5)
    assert spring < 1e-6 * read_number(elastic)
    assert measure_speed(HINGE, force=0.5, contact_model="rigid_coulomb") < 1e-9
    assert measure_speed(HINGE, force=0.5, contact_model="no_slip") > 1e-6
    assert "`no_slip` creeps, `rigid_coulomb` does not" in rigid
    with_mujoco = measure_speed(HINGE, force=0.5, contact_model="mujoco")
    assert with_mujoco == pytest.approx(1e-6 * read_number(mujoco_step), rel=0.02)
