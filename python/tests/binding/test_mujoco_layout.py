"""Tests the comparison of the installed MuJoCo with the headers that _core was built with."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import pytest

from stiction import _core
from stiction.binding import _load
from stiction.binding._mujoco_layout import Field, Structs, find_differences

ROOT = Path(__file__).resolve().parents[3]
FIELDS = [Field(*row) for row in _core.list_mujoco_fields()]
CONSTANTS = _core.list_mujoco_constants()


def read_sources() -> str:
    """Returns the C++ code that uses MuJoCo, without the tables that these tests check."""
    folders = [ROOT / "src/stiction" / name for name in ("plant", "sim", "io")]
    files = [file for folder in (*folders, ROOT / "python/src") for file in folder.rglob("*.?pp")]
    return "\n".join(
        re.sub(r"//.*", "", file.read_text())
        for file in files
        if file.name not in ("mujoco_layout.cpp", "mujoco_constants.cpp")
    )


SOURCES = read_sources()
READ = set(re.findall(r"\b(?:m|d|model|data)_?->(\w+)", SOURCES))
# The contacts, options and statistics are read in many ways, so all of their fields count as read.
USED = [
    field
    for field in FIELDS
    if field.name in READ or "." in field.name or field.struct == "contact"
]
# If a field of the sources fails a test, change the numbers of elements in _SCENE. Here are fields
# that have the same number as others in each model. Flags have two values only, and MuJoCo
# frees its stack after each function. Stiction asks only if a model has a flex.
AMBIGUOUS = {"maxuse_con", "maxuse_efc", "nflex", "pbase", "pstack"}
# The scene has no engine plugin, because these are in libraries that an import should not need. The
# fields around these are compared.
OF_PLUGINS = {"nplugin", "plugin", "plugin_statenum"}


@pytest.fixture(scope="module")
def structs() -> Structs:
    return Structs()


def test_the_installed_mujoco_has_the_structs_of_this_build(structs: Structs) -> None:
    assert list(find_differences(structs, FIELDS, CONSTANTS)) == []


def test_all_fields_that_the_sources_read_are_in_the_table() -> None:
    known = {field.name.split(".")[0] for field in FIELDS}
    assert len(READ & known) > 100
    # The arena is compared by the address of the contacts. The others are members of other structs,
    # and the parameters of the macro by which the digest of a model reads MuJoCo's lists of arrays.
    others = {"arena", "data", "opt", "size", "stat", "vis", "name", "rows"}
    assert sorted(READ - known - others) == []


def test_all_constants_that_the_sources_read_are_in_the_table() -> None:
    read = set(re.findall(r"\bmj(?:[A-Z]+_[A-Z0-9_]+|[A-Z]{2,}[A-Z0-9]*)\b", SOURCES))
    known = {name.split(".")[-1] for name in CONSTANTS}
    assert len(known) > 80
    assert sorted(read - known) == ["mjCOLLISIONFUNC"]


def test_all_fields_that_the_sources_read_are_compared(structs: Structs) -> None:
    assert len(USED) > 200
    empty = {field.name for field in USED if not structs.has_address(field)}
    assert empty - OF_PLUGINS == set()


@pytest.mark.slow
def test_no_other_field_passes_for_one_that_the_sources_read(structs: Structs) -> None:
    """Also not by chance: no other field of a struct has the same number or the same address."""
    mistaken = [
        (field.name, other.name)
        for field in USED
        for other in FIELDS
        if (other.struct, other.kind, other.dtype) == (field.struct, field.kind, field.dtype)
        and other.name != field.name
        and field.dtype != "u1"
        and not {field.name, other.name} & (AMBIGUOUS | OF_PLUGINS)
        and structs.has_address(other)
        and structs.is_at(field, other.offset)
    ]
    assert mistaken == []


def test_a_field_at_another_place_is_reported(structs: Structs) -> None:
    for used in [field for field in USED if field.name not in AMBIGUOUS][::20]:
        moved = used._replace(offset=used.offset + 8)
        fields = [moved if field == used else field for field in FIELDS]
        assert set(find_differences(structs, fields, {})) == {f"{moved.struct}.{moved.name}"}


def test_a_field_that_is_new_or_missing_is_reported(structs: Structs) -> None:
    without_nq = [field for field in FIELDS if field.name != "nq"]
    assert list(find_differences(structs, without_nq, {})) == ["model.nq"]
    unknown = Field("data", "no_such_field", "value", 0, "i8")
    assert list(find_differences(structs, [*FIELDS, unknown], {})) == ["data.no_such_field"]


def test_another_constant_is_reported(structs: Structs) -> None:
    constants = {"mjtGeom.mjGEOM_BOX": 5.0, "mjNREF": 2.0, "mjtGeom.mjNO_GEOM": 1.0}
    assert list(find_differences(structs, FIELDS, constants)) == [
        "mjtGeom.mjGEOM_BOX",
        "mjtGeom.mjNO_GEOM",
    ]


def test_other_structs_are_refused_with_the_version_that_fits() -> None:
    class OtherCore:
        MUJOCO_VERSION = 4_000_007

        @staticmethod
        def list_mujoco_fields() -> list[tuple[str, str, str, int, str]]:
            return [tuple(field) for field in FIELDS if field.name != "nq"]

        list_mujoco_constants = staticmethod(_core.list_mujoco_constants)

    with pytest.raises(ImportError) as caught:
        _load.check_structs(mujoco, OtherCore)
    assert "other structs than MuJoCo 4.0.7" in str(caught.value)
    assert "(differences: 1, the first: model.nq)" in str(caught.value)
    assert str(caught.value).endswith('pip install "mujoco-core==4.0.7"')


def test_a_package_with_other_classes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mujoco, "mj_step")
    with pytest.raises(ImportError, match=r"differences: 1, the first: .*mj_step"):
        _load.check_structs(mujoco, _core)
