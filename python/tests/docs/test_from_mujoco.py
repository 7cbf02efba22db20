"""Tests that the page "From MuJoCo" is right about which settings have an effect."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import mujoco
import pytest

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
