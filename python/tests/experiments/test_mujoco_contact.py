"""Tests that MuJoCo's contacts have the requested stiffness."""

from __future__ import annotations

import mujoco
import pytest

from stiction.evidence.experiments.planar import make_contact_attributes


@pytest.mark.parametrize(
    ("stiffness", "time_step"), [(1e7, 2e-3), (1e5, 2e-3), (1e4, 1e-2), (1e8, 1e-3)]
)
def test_mujocos_contact_sags_as_the_spring(stiffness: float, time_step: float) -> None:
    attributes = make_contact_attributes(1.0, stiffness, time_step)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{time_step}"/><worldbody><geom type="plane" size="1 1 1"'
        f' {attributes}/><body pos="0 0 0.1"><joint type="slide" axis="0 0 1"/><geom size="0.1"'
        f' mass="1" {attributes}/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(5 / time_step))
    assert -data.qpos[0] == pytest.approx(9.81 / stiffness, rel=0.02)
