"""Tests that the API reference has every public name once, with a docstring or a page."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from public_headers import SOURCES, list_public_headers

import stiction
import stiction.analysis.artifacts
import stiction.analysis.converge
import stiction.analysis.grasp
import stiction.analysis.verify
import stiction.compare
import stiction.cones
import stiction.lcp
import stiction.meshing
import stiction.recording
import stiction.sweep

DOCS = Path(__file__).resolve().parents[3] / "docs"
PYTHON_PAGES = sorted((DOCS / "api" / "python").glob("*.md"))
MODULES: tuple[ModuleType, ...] = (
    stiction,
    stiction.analysis.artifacts,
    stiction.compare,
    stiction.cones,
    stiction.analysis.converge,
    stiction.analysis.grasp,
    stiction.lcp,
    stiction.meshing,
    stiction.recording,
    stiction.sweep,
    stiction.analysis.verify,
)
if importlib.util.find_spec("gymnasium") is None:
    PYTHON_PAGES.remove(DOCS / "api" / "python" / "gym.md")
else:
    MODULES = (*MODULES, importlib.import_module("stiction.gym"))


def list_public_objects() -> list[Any]:
    """Returns the functions and classes that the public modules export, each once."""
    exported = (getattr(module, name) for module in MODULES for name in module.__all__)
    objects = [each for each in exported if not isinstance(each, (ModuleType, str))]
    return list(dict.fromkeys(objects))


def resolve(name: str, module: str) -> Any:
    """Returns the object that a directive names below `currentmodule`."""
    path = name if name.startswith("stiction.") else f"{module}.{name}"
    found: Any = stiction
    for part in path.split(".")[1:]:
        if isinstance(found, ModuleType) and not hasattr(found, part):
            importlib.import_module(
                f"{found.__name__}.{part}"
            )  # a module that nothing imported yet
        found = getattr(found, part)
    return found


def list_documented_objects() -> Iterator[Any]:
    for page in PYTHON_PAGES:
        text = page.read_text()
        module = "".join(re.findall(r"currentmodule:: (\S+)", text))
        for name in re.findall(r"auto(?:class|function|exception):: (\S+)", text):
            yield resolve(name, module)


DOCUMENTED = list(list_documented_objects())


def list_members(documented: type) -> Iterator[tuple[str, Any]]:
    fields = set()
    if dataclasses.is_dataclass(documented):
        fields = {field.name for field in dataclasses.fields(documented)}
    for name, member in vars(documented).items():
        is_special = name in ("__getitem__", "__iter__", "__len__")
        if name not in fields and (is_special or not name.startswith("_")):
            yield name, member


def read_docstring(member: Any) -> str:
    """Returns a docstring without the signature, with which that of a compiled method begins."""
    text = inspect.getdoc(getattr(member, "__func__", member)) or ""
    return re.sub(r"\A\w*\(.*\) -> .*\n*", "", text)


def list_described(documented: Any, section: str) -> list[str]:
    """Returns the names that a section of a docstring describes."""
    text = (inspect.getdoc(documented) or "").partition(f"\n{section}:\n")[2]
    groups = re.findall(r"^    (\w[\w, ]*): ", text.partition("\n\n")[0], re.MULTILINE)
    return [name for group in groups for name in group.split(", ")]


def test_every_public_object_is_on_one_page() -> None:
    counts = Counter(DOCUMENTED)
    assert [each for each in list_public_objects() if counts[each] != 1] == []
    assert [each for each, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("documented", DOCUMENTED, ids=lambda each: each.__name__)
def test_every_documented_object_and_its_members_have_docstrings(documented: Any) -> None:
    assert read_docstring(documented)
    if inspect.isclass(documented):
        missing = [name for name, member in list_members(documented) if not read_docstring(member)]
        assert missing == []


@pytest.mark.parametrize(
    "documented",
    [each for each in DOCUMENTED if dataclasses.is_dataclass(each)],
    ids=lambda each: each.__name__,
)
def test_every_field_of_a_dataclass_is_described(documented: Any) -> None:
    inherited = {
        field.name
        for base in documented.__mro__[1:]
        if base in DOCUMENTED and dataclasses.is_dataclass(base)
        for field in dataclasses.fields(base)
    }
    fields = [field.name for field in dataclasses.fields(documented)]
    own = [name for name in fields if name not in inherited]
    assert list_described(documented, "Attributes") == own


@pytest.mark.parametrize(
    "function",
    [
        each
        for each in DOCUMENTED
        if inspect.isfunction(each) and len(inspect.signature(each).parameters) > 1
    ],
    ids=lambda each: each.__name__,
)
def test_every_argument_of_a_function_is_described(function: Any) -> None:
    assert list_described(function, "Args") == list(inspect.signature(function).parameters)


def test_every_public_header_is_on_one_page() -> None:
    pages = [page.read_text() for page in (DOCS / "api" / "cpp").glob("*.md")]
    shown = re.findall(r"```\{public-headers\} (\w+)", "".join(pages))
    folders = {Path(header).parts[1] for header in list_public_headers()}
    assert sorted(shown) == sorted(folders)


def test_the_installed_headers_are_found() -> None:
    headers = list_public_headers()
    assert len(headers) == len(set(headers))
    assert "stiction/sim/stepper.hpp" in headers
    assert "stiction/contact/contact_problem.hpp" in headers, "included by contact_solver.hpp"
    assert all((SOURCES / header).exists() for header in headers)
