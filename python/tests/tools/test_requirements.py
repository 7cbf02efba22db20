"""Tests that the locked packages install on the oldest Python that the project names."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[3]


def find_oldest_python() -> str:
    """Returns the oldest version of Python that pyproject.toml allows, such as 3.11.0."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = re.fullmatch(r">=(\d+\.\d+)", project["requires-python"])
    assert found
    return f"{found[1]}.0"


def find_pins(lock: str) -> dict[str, str]:
    """Returns the versions of the packages that a lock names."""
    text = (ROOT / "requirements" / lock).read_text()
    return dict(re.findall(r"(?m)^([\w.-]+)==([^ ;]+)", text))


def find_unfit(pins: dict[str, str], python: str) -> list[str]:
    """Returns a line for each installed package whose version does not support a version of Python."""
    unfit = []
    for name, version in pins.items():
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # of a lock that is not installed here
        assert distribution.version == version, name
        required = distribution.metadata.get("Requires-Python")
        if required and not SpecifierSet(required).contains(python):
            unfit.append(f"{name} {version} needs Python {required}")
    return unfit


@pytest.mark.parametrize("lock", ["run.txt", "test.txt", "dev.txt", "scenes.txt"])
def test_pins_support_the_oldest_python(lock: str) -> None:
    pins = find_pins(lock)
    assert len(pins) > 10
    assert find_unfit(pins, find_oldest_python()) == []


def test_an_unfit_pin_is_found() -> None:
    pins = {"numpy": importlib.metadata.version("numpy")}
    assert find_unfit(pins, "3.6.0") == [
        f"numpy {pins['numpy']} needs Python {importlib.metadata.metadata('numpy')['Requires-Python']}"
    ]


def test_small_locks_are_parts_of_the_large_one() -> None:
    everything = find_pins("dev.txt")
    for lock in ("run.txt", "test.txt"):
        assert find_pins(lock).items() <= everything.items(), lock
