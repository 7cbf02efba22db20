"""Tests stiffness from Young's modulus and Poisson's ratio in the package."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import mujoco
import pytest

import stiction

SCENE = """<mujoco><option timestep="0.001"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body pos="0 0 0.0498"><freejoint/><geom name="ball" size="0.05" mass="0.4"/></body>
</worldbody></mujoco>"""

E, NU = 3e6, 0.45


def make_properties(**rubber: Any) -> dict[str, Any]:
    return {
        "materials": {"rubber": {"youngs_modulus": E, "poissons_ratio": NU, **rubber}, "hard": {}},
        "geoms": {"ball": "rubber"},
    }


def test_a_ball_rests_at_the_depth_of_hertzs_law() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    sim = stiction.Simulator(model, normal_law="hertz", properties=make_properties())
    sim.step(data, 3000)
    modulus = E / (1 - NU**2)
    depth = (0.75 * 0.4 * 9.81 / (modulus * 0.05**0.5)) ** (2 / 3)
    assert 0.05 - data.qpos[2] == pytest.approx(depth, rel=1e-5)

    numbers = {entry["name"]: entry for entry in sim.explain("ball", "floor")["numbers"]}
    assert numbers["contact_modulus"]["value"] == pytest.approx(modulus)
    assert "E = 3e+06 Pa (properties" in numbers["contact_modulus"]["from"]
    assert numbers["hertz_stiffness"]["value"] == pytest.approx(4 / 3 * modulus * 0.05**0.5)
    assert numbers["hertz_stiffness"]["note"] == "radii of the relative curvature 0.05 and 0.05 m"

    # The content of the properties, which recordings and pickles hold, has the elasticity.
    assert sim.options["properties"]["materials"]["rubber"] == {
        "youngs_modulus": E,
        "poissons_ratio": NU,
    }
    copy = pickle.loads(pickle.dumps(sim))
    assert copy.explain("ball", "floor") == sim.explain("ball", "floor")


def test_a_compliant_surface_has_the_modulus_of_its_elasticity() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    properties = make_properties(compliant=True)
    properties["materials"]["hard"] = {"rigid": True}
    properties["geoms"]["floor"] = "hard"
    sim = stiction.Simulator(model, properties=properties)
    explained = sim.explain("ball", "floor")
    numbers = {entry["name"]: entry for entry in explained["numbers"]}
    assert explained["touches_in"] == "patches"
    modulus = numbers["hydroelastic_modulus, geom 'ball'"]
    assert modulus["value"] == pytest.approx(E / (1 - NU**2))
    assert "E/(1 - nu^2)" in modulus["note"]
    assert sim.options["properties"]["materials"]["rubber"]["compliant"] is True


def test_a_modulus_without_effect_gives_a_warning() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    with pytest.warns(stiction.IgnoredSettingWarning, match="youngs_modulus .* has no effect"):
        stiction.Simulator(model, properties=make_properties())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stiction.Simulator(model, normal_law="hertz", properties=make_properties())
