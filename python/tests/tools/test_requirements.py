"""Tests that the locked packages install on the oldest Python that the project names."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[3]


OLDEST_PYTHON = "3.11.2"  # of Debian 12, the oldest system on which CI and ./dev run


def test_oldest_python_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={OLDEST_PYTHON.rpartition('.')[0]}"


def find_pins(lock: str) -> dict[str, str]:
    """Returns the versions of the packages that a lock names."""
    text = (ROOT / "requirements" / lock).read_text()
    return dict(re.findall(r"(?m)^([\w.-]+)==([^ ;]+)", text))


def find_unfit(pins: dict[str, str], python: str) -> list[str]:
    """Returns a line for each pin that is not installed, or does not support a version of Python."""
    unfit = []
    for name, version in pins.items():
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            unfit.append(f"{name} {version} is not installed; run ./dev setup")
            continue
        required = distribution.metadata.get("Requires-Python")
        if distribution.version != version:
            unfit.append(f"{name} {version} is pinned, but {distribution.version} is installed")
        elif required and not SpecifierSet(required).contains(python):
            unfit.append(f"{name} {version} needs Python {required}")
    return unfit


# ./dev test installs the first two locks, and ./dev test --all, which runs the slow tests, also dev.txt.
@pytest.mark.skipif(
    Path(sys.prefix) != ROOT / ".venv",
    reason="the locks are those of .venv, and this is another one",
)
@pytest.mark.parametrize(
    "lock", ["test.txt", "scenes.txt", pytest.param("dev.txt", marks=pytest.mark.slow)]
)
def test_pins_are_installed_and_support_the_oldest_python(lock: str) -> None:
    pins = find_pins(lock)
    assert len(pins) > 10
    assert find_unfit(pins, OLDEST_PYTHON) == []


def test_an_unfit_pin_is_found() -> None:
    version = importlib.metadata.version("numpy")
    required = importlib.metadata.metadata("numpy")["Requires-Python"]
    assert find_unfit({"numpy": version}, "3.6.0") == [f"numpy {version} needs Python {required}"]
    assert find_unfit({"numpy": "0.1"}, OLDEST_PYTHON) == [
        f"numpy 0.1 is pinned, but {version} is installed"
    ]
    assert find_unfit({"no-such-package": "1.0"}, OLDEST_PYTHON) == [
        "no-such-package 1.0 is not installed; run ./dev setup"
    ]


def test_small_locks_are_parts_of_the_large_one() -> None:
    everything = find_pins("dev.txt")
    for lock in ("run.txt", "test.txt"):
        assert find_pins(lock).items() <= everything.items(), lock
