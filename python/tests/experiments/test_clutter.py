"""Tests the scene of the clutter."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import stiction
from stiction.evidence.experiments.clutter import (
    BOX_MASS,
    GRAVITY,
    STIFFNESS,
    make_clutter,
    make_mjcf,
    make_properties,
)


@pytest.mark.parametrize("num_bodies", [-10, 0, 1, 20, 41, 10 * 101**2, 10**9])
def test_clutter_refuses_other_numbers_of_bodies(num_bodies: int) -> None:
    with pytest.raises(stiction.Error, match="10 times a square"):
        make_clutter(num_bodies)


def test_clutter_has_the_papers_parameters() -> None:
    """Masses and stiffness are the paper's, and 1 kg sags under MuJoCo as on a spring of 1e7 N/m."""
    model = mujoco.MjModel.from_xml_string(make_mjcf(make_clutter(40)))
    assert np.unique(model.body_mass[1:]).tolist() == [0.524, 1.0]
    material = make_properties()["materials"]["clutter"]
    assert material["stiffness"] / 2 == 1e7

    xml = f"""<mujoco><option timestep="0.002" cone="elliptic"/><worldbody>
      <geom type="plane" size="1 1 1" {_solver_parameters(model)}/>
      <body pos="0 0 0.05"><freejoint/><geom size="0.05" mass="1" {_solver_parameters(model)}/></body>
      </worldbody></mujoco>"""
    ball = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(ball)
    mujoco.mj_step(ball, data, 2000)
    sag = 0.05 - data.qpos[2]
    assert sag == pytest.approx(GRAVITY / 1e7, rel=0.01)


def _solver_parameters(model: mujoco.MjModel) -> str:
    solref = " ".join(map(repr, map(float, model.geom_solref[0])))
    solimp = " ".join(map(repr, map(float, model.geom_solimp[0][:3])))
    return f'solref="{solref}" solimp="{solimp}"'


def test_clutter_uses_the_given_step_stiffness_and_gap() -> None:
    scene = make_clutter(10)
    assert make_mjcf(scene, stiffness=STIFFNESS) == make_mjcf(scene)
    model = mujoco.MjModel.from_xml_string(make_mjcf(scene, 5e-3, 1e9, 0.02))
    assert model.opt.timestep == 5e-3
    assert set(model.geom_gap) == {0.02}
    assert set(model.body_mass[1:]) == {BOX_MASS, 0.524}


@pytest.mark.parametrize("contact_model", ["lagged_regularized", "coulomb"])
@pytest.mark.parametrize("time_step", [5e-3, 1e-2])
def test_large_steps_do_not_penetrate_if_bodies_cannot_rotate(
    contact_model: str, time_step: float
) -> None:
    slides = "".join(f'<joint type="slide" axis="{a}"/>' for a in ("1 0 0", "0 1 0", "0 0 1"))
    text = make_mjcf(make_clutter(40), time_step).replace("<freejoint/>", slides)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    with stiction.errors.ignored_settings_are_fine():
        simulator = stiction.Simulator(model, contact_model, properties=make_properties())
    deepest = 0.0
    for _ in range(round(1.5 / time_step)):
        distance = simulator.step(data).contacts.distance
        deepest = max([deepest, *-distance])
    assert 0 < deepest < 1e-4  # [m]; measured: 3.6e-5, and 1e-2 with rotating bodies


def test_clutter_scenes_depend_on_their_seed() -> None:
    assert make_clutter(10, 0) == make_clutter(10)
    assert make_clutter(10, 1) != make_clutter(10)
