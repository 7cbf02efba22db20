"""Reports have rows, plain values and HTML."""

import copy
import json
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction

BOXES = """
<mujoco><option timestep="0.002" cone="elliptic"/><worldbody>
  <geom name="floor" type="plane" size="1 1 0.1"/>
  <body name="box" pos="0 0 0.0499"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
  <body name="ball" pos="0.3 0 1"><freejoint/><geom type="sphere" size=".05" mass="1"/></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def report() -> stiction.StepReport:
    model = mujoco.MjModel.from_xml_string(BOXES)
    data = mujoco.MjData(model)
    return stiction.Simulator(model).step(data, 20)


def test_a_contact_has_the_row_of_every_array(report: stiction.StepReport) -> None:
    contacts = report.contacts
    assert len(contacts) == 4
    arrays = {name for name in dir(contacts) if isinstance(getattr(contacts, name), np.ndarray)}
    assert set(contacts[0].to_dict()) == arrays
    for i, contact in enumerate(contacts):
        for name in arrays:
            np.testing.assert_array_equal(getattr(contact, name), getattr(contacts, name)[i])


def test_contacts_count_from_both_ends(report: stiction.StepReport) -> None:
    contacts = report.contacts
    assert contacts[-1].point.tolist() == contacts[3].point.tolist()
    for index in (4, -5):
        with pytest.raises(IndexError, match=f"no contact {index}; the step had 4 contacts"):
            contacts[index]


def test_contacts_take_slices_and_any_integer(report: stiction.StepReport) -> None:
    contacts = report.contacts
    every_other: Any = contacts[slice(None, None, -2)]  # type: ignore[index]
    assert [c.distance for c in every_other] == contacts.distance[::-2].tolist()
    assert contacts[np.int64(2)].point.tolist() == contacts.point[2].tolist()
    for index in ("a", 1.0, None, np.array([True, False, True, False])):
        with pytest.raises(TypeError, match=r"an integer or a slice.*contacts\.force\[mask\]"):
            contacts[index]  # type: ignore[index]


def test_a_contact_is_plain_itself_and_an_entry_of_sets(report: stiction.StepReport) -> None:
    contact = report.contacts[1]
    assert contact == contact and contact != report.contacts[2] and len({contact, contact}) == 1
    assert json.loads(json.dumps(contact.to_dict()))["force"] == report.contacts.force[1].tolist()
    assert contact.to_dict()["geoms"] == report.contacts.geoms[1].tolist()
    assert repr(contact).startswith(f"Contact(bodies=(0, 1), geoms={contact.geoms}, point=array([")
    assert copy.copy(contact).to_dict() == copy.deepcopy(contact).to_dict() == contact.to_dict()
    assert report.contacts._repr_html_() in report._repr_html_()


def test_to_dict_has_every_attribute_and_fits_into_json(report: stiction.StepReport) -> None:
    def check(plain: object, original: object) -> None:
        if isinstance(plain, dict):
            for name, value in plain.items():
                check(
                    value, original[name] if isinstance(original, dict) else getattr(original, name)
                )
        elif isinstance(original, np.ndarray):
            np.testing.assert_array_equal(plain, original)
        elif isinstance(plain, list):
            assert len(plain) == len(original)  # type: ignore[arg-type]
        else:
            assert plain == original

    plain = report.to_dict()
    check(plain, report)
    public = {name for name in dir(report) if not name.startswith("_")} - {"to_dict", "table"}
    assert set(plain) == public
    assert json.loads(json.dumps(plain)) == json.loads(json.dumps(copy.deepcopy(report).to_dict()))
    assert report.contacts.to_dict() == plain["contacts"]


def test_html_has_the_bound_the_contacts_and_escaped_text(report: stiction.StepReport) -> None:
    text = report._repr_html_()
    assert f"{report.certificate.error_bound:.2e}" in text
    assert text.count("<td>sticks</td>") == 4
    model = mujoco.MjModel.from_xml_string(BOXES)
    data = mujoco.MjData(model)
    data.qvel[0] = np.nan
    failed = stiction.Simulator(model, on_failure="stop").step(data)
    assert not failed.ok
    assert "non_finite" in failed._repr_html_()
