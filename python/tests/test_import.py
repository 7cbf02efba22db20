"""Tests that `import stiction` loads what a step needs, and the rest at its first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import stiction

# Packages that plots, the command line, recordings and studies import when they run.
LATER = {"matplotlib", "typer", "rich", "mcap", "zstandard", "scipy"}
STEP = """
import sys, stiction, mujoco
model = mujoco.MjModel.from_xml_string("<mujoco/>")
stiction.Simulator(model).step(mujoco.MjData(model))
print(*{name.partition(".")[0] for name in sys.modules}, "stiction.recording" in sys.modules)
"""


def test_an_import_and_a_step_load_no_package_that_they_do_not_need() -> None:
    command = [sys.executable, "-c", STEP]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    *modules, has_recording = result.stdout.split()
    assert set(modules) & LATER == set()
    assert {"numpy", "mujoco", "stiction"} <= set(modules)
    assert has_recording == "False"


@pytest.mark.parametrize("name", stiction.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(stiction, name) is not None
    assert name in dir(stiction)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'stiction' has no attribute 'Simulater'"):
        _ = stiction.Simulater
