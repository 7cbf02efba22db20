"""Tests that `import stiction` loads what a step needs, and the rest at its first use."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.slow
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


def find_public_modules() -> list[str]:
    """Returns the modules that declare their public names."""
    found = ["stiction"]
    for module in pkgutil.walk_packages(stiction.__path__, "stiction."):
        base = Path(stiction.__path__[0], *module.name.split(".")[1:])
        path = base / "__init__.py" if module.ispkg else base.with_suffix(".py")
        if path.is_file() and "\n__all__ = " in path.read_text():
            found.append(module.name)
    return found


def test_the_public_modules_are_found() -> None:
    assert {"stiction", "stiction.lcp", "stiction.cones", "stiction.gym"} <= {
        *find_public_modules()
    }


@pytest.mark.parametrize("name", find_public_modules())
def test_dir_lists_public_names_and_modules_alone(name: str) -> None:
    module = importlib.import_module(name)
    listed = dir(module)
    assert set(module.__all__) <= set(listed)
    others = {other for other in listed if not other.startswith("_")} - set(module.__all__)
    assert {other for other in others if f"{name}.{other}" not in sys.modules} == set()
    if name == "stiction":
        assert others <= {"compare", "gym", "meshing", "recording", "sweep"}
