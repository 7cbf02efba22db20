"""Tests that what a reader prints says what it is, and never only where it is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import pytest

import stiction

FAR = 3  # attributes of attributes of attributes


def list_values(owner: Any, name: str, seen: set[tuple[type, str]]) -> Iterator[tuple[str, Any]]:
    """Yields an object of Stiction, its attributes and first items, and theirs, with their names."""
    yield name, owner
    if not type(owner).__module__.startswith("stiction") or name.count(".") > FAR:
        return
    if hasattr(owner, "__iter__") and not isinstance(owner, dict):
        for first in owner:
            yield from list_values(first, f"{name}[0]", seen)
            break
    for attribute in dir(owner):
        if attribute.startswith("_") or (type(owner), attribute) in seen:
            continue
        seen.add((type(owner), attribute))
        value = getattr(owner, attribute)
        if not callable(value):
            yield from list_values(value, f"{name}.{attribute}", seen)


@pytest.mark.filterwarnings("ignore::stiction.IgnoredSettingWarning")
def test_all_parts_of_a_report_and_a_simulator_print_what_they_have() -> None:
    scene = stiction.load_scene("spatula")
    simulator, data = scene.make_simulator(trace=True), scene.make_data()
    for _ in range(3):
        scene.control_schedule(data)
        report = simulator.step(data)
    batch = stiction.Batch(scene.model, 2, properties=scene.properties)
    seen: set[tuple[type, str]] = set()
    texts = {
        name: repr(value)
        for owner, begin in ((report, "report"), (simulator, "simulator"), (batch, "batch"))
        for name, value in list_values(owner, begin, seen)
        if not isinstance(value, mujoco.MjModel)
    }
    assert len(texts) > 100
    assert [name for name, text in texts.items() if " object at 0x" in text] == []


def test_representations_name_counts_and_chosen_options() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='1 1 .1'/>"
        "<body pos='0 0 .1'><freejoint/><geom size='.1'/></body>"
        "<body pos='1 0 1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, "lagged", tolerance=1e-6)
    assert repr(simulator) == (
        "Simulator(<2 bodies, 12 dofs>, contact_model='lagged', time_step=0.004, tolerance=1e-06)"
    )
    report = simulator.step(data)
    assert repr(report.contacts) == "ContactReport(sticking=1, slipping=0, open=0)"
    assert repr(report.patches) == "PatchReport(patches=0, faces=0)"
    assert repr(report.taxels) == "TaxelReport()"
    assert "num_contacts=1" in repr(report.statistics)
    assert repr(report.timings).startswith("StepTimings(total=")
    assert repr(stiction.Batch(model, 3)) == (
        "Batch(3 simulations of <2 bodies, 12 dofs>, contact_model='coulomb', time_step=0.004)"
    )
