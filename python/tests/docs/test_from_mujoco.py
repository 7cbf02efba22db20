"""Tests that the page "From MuJoCo" is right about which settings have an effect, and about solref."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import stiction

PAGE = Path(__file__).resolve().parents[3] / "docs" / "from_mujoco.md"
SCENE = """<mujoco>{option}<worldbody>
  <geom name="floor" type="plane" size="1 1 .1" {geom}/>
  <body pos="0 0 .1"><freejoint/><geom name="ball" size=".1" mass="2" {geom}/></body>
</worldbody>{more}</mujoco>"""
PAIR = '<contact><pair geom1="floor" geom2="ball" {}/></contact>'

# The MJCF that sets each setting of a row, and the contact model for which the row says what happens.
GEOM = {
    "`condim` 4, 6": ('condim="6"', "sap"),
    "`solref`": ('solref=".01 1"', "coulomb"),
    "`solimp`": ('solimp=".9 .99 .01 .5 2"', "coulomb"),
    "`solmix`": ('solmix="2"', "coulomb"),
    "`margin`": ('margin=".01"', "coulomb"),
    "`gap`": ('gap=".01"', "coulomb"),
    "`priority`": ('priority="1"', "coulomb"),
    "`surfacevel`": ('surfacevel="1 0 0 0 0 0"', "coulomb"),
    "`friction`, first number": ('friction=".3"', "coulomb"),
}
PAIRS = {
    "`<pair friction>`, five numbers": ('condim="3" friction=".5 .6 .01 .001 .001"', "sap"),
    "`solreffriction` of a pair": ('solreffriction=".01 1"', "coulomb"),
}
OPTIONS = {
    "`timestep`": 'timestep="0.001"',
    "`integrator` Euler": 'integrator="implicitfast"',
    "`integrator` RK4": 'integrator="RK4"',
    "`cone`": 'cone="elliptic"',
    "`impratio`": 'impratio="10"',
    "`noslip_iterations`": 'noslip_iterations="5"',
    "`noslip_tolerance`": 'noslip_tolerance="1e-3" solver="CG" iterations="3" jacobian="dense"',
    "`tolerance`": 'tolerance="1e-3"',
    "`ccd_tolerance`": 'ccd_tolerance="1e-9" ccd_iterations="9"',
}
OVERRIDES = {
    "`o_margin`": 'o_margin=".01" o_friction=".5 .5 .005 .0001 .0001"',
    "`o_solref`": 'o_solref=".01 1"',
}


def find_row(name: str) -> str:
    """Returns the second column of the row that begins with a name."""
    rows = re.findall(rf"^\| {re.escape(name)}[^|]*\| ([^|]*) \|", PAGE.read_text(), re.MULTILINE)
    assert len(rows) == 1, name
    return rows[0]


def gives_warning(contact_model: str, **parts: str) -> bool:
    """True if a Simulator of the scene with these parts warns of a setting without effect."""
    model = mujoco.MjModel.from_xml_string(
        SCENE.format(**{"option": "", "geom": "", "more": "", **parts})
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stiction.Simulator(model, contact_model)
    return any(each.category is stiction.IgnoredSettingWarning for each in caught)


def test_the_plain_scene_gives_no_warning() -> None:
    for contact_model in ("coulomb", "sap"):
        assert not gives_warning(contact_model)
        assert not gives_warning(contact_model, more=PAIR.format(""))


@pytest.mark.parametrize("name", GEOM)
def test_a_setting_of_geoms_warns_if_the_page_says_so(name: str) -> None:
    text, contact_model = GEOM[name]
    assert gives_warning(contact_model, geom=text) == ("warns" in find_row(name))


@pytest.mark.parametrize("name", PAIRS)
def test_a_setting_of_pairs_warns_if_the_page_says_so(name: str) -> None:
    text, contact_model = PAIRS[name]
    assert gives_warning(contact_model, more=PAIR.format(text)) == ("warns" in find_row(name))


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_warns_if_the_page_says_so(name: str) -> None:
    option = f"<option {OPTIONS[name]}/>"
    assert gives_warning("coulomb", option=option) == ("warns" in find_row(name))


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_override_warns_if_the_page_says_so(name: str) -> None:
    option = f'<option {OVERRIDES[name]}><flag override="enable"/></option>'
    assert gives_warning("coulomb", option=option) == ("warns" in find_row(name))


DISABLING, ENABLING = (
    {name[len("mjXXXX_") :].lower() for name in flags.__members__ if "_" in name}
    for flags in (mujoco.mjtDisableBit, mujoco.mjtEnableBit)
)


def list_flags() -> dict[str, str]:
    """Returns each flag of the page with what the page says about it."""
    table = PAGE.read_text().split("### Flags")[1].split("###")[0]
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", table, re.MULTILINE)
    return {flag: text for flags, text in rows for flag in re.findall(r"`(\w+)`", flags)}


def test_the_page_has_all_flags() -> None:
    assert set(list_flags()) == DISABLING | ENABLING


@pytest.mark.parametrize("flag", sorted(DISABLING | ENABLING))
def test_a_flag_warns_if_the_page_says_so(flag: str) -> None:
    value = "enable" if flag in ENABLING else "disable"
    integrator = "discrete" if flag == "ipc" else "Euler"  # which ipc requires
    option = f'<option integrator="{integrator}"><flag {flag}="{value}"/></option>'
    assert gives_warning("coulomb", option=option) == ("warns" in list_flags()[flag])


# A joint with a motor, a spring, a damper, dry friction and a limit; a body that a weld holds up;
# and a ball that falls on the floor.
MACHINE = """<mujoco><option><flag {flags}/></option><worldbody>
  <body>
    <joint name="a" axis="0 1 0" range="-20 20" damping=".5" stiffness="5" springref="40"
      frictionloss=".2"/>
    <geom type="capsule" size=".02 .1" pos=".1 0 0" euler="0 90 0" mass="1" contype="0" conaffinity="0"/>
  </body>
  <body name="held" pos="1 0 1"><freejoint/><geom size=".05" mass="1" contype="0" conaffinity="0"/></body>
  <body pos="0 0 -1"><freejoint/><geom size=".05" mass="1"/></body>
  <geom type="plane" size="1 1 .1" pos="0 0 -1.06"/>
</worldbody>
<equality><connect body1="held" body2="world" anchor="0 0 0"/></equality>
<actuator><motor joint="a" ctrlrange="-1 1"/></actuator></mujoco>"""
# The number of steps after which each flag has changed the motion most.
READ_FLAGS = {
    **dict.fromkeys(["constraint", "contact", "limit"], 150),
    **dict.fromkeys(
        ["equality", "frictionloss", "spring", "damper", "gravity", "clampctrl", "actuation"], 20
    ),
}


def run_machine(num_steps: int, flags: str, *, by_mujoco: bool) -> NDArray[np.float64]:
    """Returns the angle of the joint and the heights of the bodies after some steps."""
    model = mujoco.MjModel.from_xml_string(MACHINE.format(flags=flags))
    data = mujoco.MjData(model)
    data.ctrl[:] = 3
    if by_mujoco:
        mujoco.mj_step(model, data, num_steps)
    else:
        stiction.Simulator(model).step(data, num_steps)
    return data.qpos[[0, 3, 10]].copy()


@pytest.mark.parametrize("flag", READ_FLAGS)
def test_a_flag_that_is_read_has_the_effect_that_it_has_in_mujoco(flag: str) -> None:
    assert list_flags()[flag] == "read"
    num_steps, off = READ_FLAGS[flag], f'{flag}="disable"'
    by_mujoco = run_machine(num_steps, off, by_mujoco=True)
    effect = np.abs(by_mujoco - run_machine(num_steps, "", by_mujoco=True)).max()
    # The integrators differ by up to a fifth of the effect.
    difference = run_machine(num_steps, off, by_mujoco=False) - by_mujoco
    assert np.abs(difference).max() < effect / 4


def find_stiffness(model: mujoco.MjModel, geoms: set[int], force: float) -> float:
    """Calls the function of the page for the contact of two geoms at the initial state."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    (block,) = re.findall(r"```python\n(def find_stiffness.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {"mujoco": mujoco}
    exec(block, names)
    contact = next(each for each in data.contact if set(each.geom) == geoms)
    return float(names["find_stiffness"](model, contact, force))


def step_by_mujoco(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 5000)
    return data


@pytest.mark.parametrize("solref", [".02 1", ".01 1", ".006 .7", "-1e5 -600", "-1e4 -200"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_a_ball_of_mujoco_sinks_by_its_weight_over_the_stiffness(
    solref: str, cone: str, condim: int
) -> None:
    geom = f'solref="{solref}" condim="{condim}"'
    model = mujoco.MjModel.from_xml_string(
        SCENE.format(option=f'<option cone="{cone}"/>', geom=geom, more="").replace(
            "0 0 .1", "0 0 .0999"
        )
    )
    depth = 0.1 - step_by_mujoco(model).qpos[2]
    stiffness = find_stiffness(model, {0, 1}, 2 * 9.81)
    assert depth == pytest.approx(2 * 9.81 / stiffness, rel=1e-4)


def test_the_contacts_of_a_box_share_its_weight() -> None:
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody>
      <geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="4"/></body>
    </worldbody></mujoco>""")
    depth = 0.1 - step_by_mujoco(model).qpos[2]
    assert depth == pytest.approx(9.81 / find_stiffness(model, {0, 1}, 9.81), rel=1e-4)


def test_the_stiffness_between_two_bodies_is_that_of_their_common_mobility() -> None:
    ball = '<body pos="0 0 {}"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="{}"/></body>'
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
        {ball.format(0.0999, 4)}{ball.format(0.2998, 1)}</worldbody></mujoco>"""
    )
    heights = step_by_mujoco(model).xpos[:, 2]
    depth = 0.2 - (heights[2] - heights[1])
    assert depth == pytest.approx(9.81 / find_stiffness(model, {1, 2}, 9.81), rel=1e-4)


def test_a_contact_of_mujoco_oscillates_as_a_softer_spring() -> None:
    geom = 'solref="-1e4 -1" solimp=".9 .9 .001"'
    scene = SCENE.format(option='<option timestep="1e-4"/>', geom=geom, more="")
    model = mujoco.MjModel.from_xml_string(scene.replace("0 0 .1", "0 0 .09988"))
    data = mujoco.MjData(model)
    stiffness = find_stiffness(model, {0, 1}, 2 * 9.81)
    rest = 0.1 - 2 * 9.81 / stiffness
    rises = []
    for step in range(4000):
        before = data.qpos[2]
        mujoco.mj_step(model, data)
        if before < rest <= data.qpos[2]:
            rises.append(step + (rest - before) / (data.qpos[2] - before))
    frequency = 2 * np.pi / (1e-4 * np.diff(rises).mean())
    assert frequency == pytest.approx(np.sqrt((1 - 0.9) * stiffness / 2), rel=1e-3)


@pytest.mark.parametrize("restitution", [0.95, 0.8, 0.5])
def test_a_dissipation_gives_the_restitution_that_the_page_says(restitution: float) -> None:
    speed = 0.2
    soft = {"stiffness": 1e5, "dissipation": 1.5 * (1 / restitution - 1) / speed}
    scene = SCENE.format(option='<option timestep="1e-5" gravity="0 0 0"/>', geom="", more="")
    model = mujoco.MjModel.from_xml_string(scene)
    simulator = stiction.Simulator(
        model, properties={"materials": {"soft": soft}, "geoms": {"ball": "soft"}}
    )
    data = mujoco.MjData(model)
    data.qvel[2] = -speed
    simulator.step(data, 3000)
    assert data.qvel[2] / speed == pytest.approx(restitution, abs=0.02)


def measure_hinge_creep(
    inertia: float, bound: float, share: float, contact_model: str, friction_law: str = "soft"
) -> float:
    """Returns the speed at which a hinge with dry friction creeps under a share of its bound [rad/s]."""
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint name="hinge" axis="0 0 1" frictionloss="{bound}"/><geom size=".1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>
    </body></worldbody><actuator><motor joint="hinge"/></actuator></mujoco>""")
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, contact_model, friction_law=friction_law)
    data.ctrl[0] = share * bound
    simulator.step(data, 1000)
    before = data.qpos[0]
    simulator.step(data, 500)
    return float(data.qpos[0] - before)


def test_a_hinge_creeps_as_fast_as_the_page_says() -> None:
    row = re.findall(
        r"^\| dry friction of a hinge.*inertia of (\S+) kg m².*of (\S+) N m, at 2 ms \| (\S+) mrad/s \| "
        r"(\S+) rad/s; with `friction_law=\"soft\"` (\S+) mrad/s \|$",
        PAGE.read_text(),
        re.MULTILINE,
    )
    inertia, bound, by_mujoco, limit, soft = (float(number) for number in row[0])
    for contact_model, speed in (("mujoco", by_mujoco), ("coulomb", soft)):
        creep = 1e3 * measure_hinge_creep(inertia, bound, 0.5, contact_model)
        assert creep == pytest.approx(speed, rel=0.01)
    assert abs(measure_hinge_creep(inertia, bound, 0.5, "coulomb", "automatic")) < limit


@pytest.mark.parametrize("contact_model", ["sap", "lagged", "similar", "tamsi", "coulomb"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_light_hinges_creep_by_their_mobility(contact_model: str, share: float) -> None:
    """The tolerance is max(v_s, sigma w dt b): 0.3 mrad/s for this hinge [theory:dry-friction]."""
    creep = measure_hinge_creep(1 / 150, 1.0, share, contact_model)
    tolerance = 1e-3 * 150 * 2e-3 * 1.0
    assert creep == pytest.approx(tolerance * share / np.sqrt(1 - share**2), rel=1e-4)
