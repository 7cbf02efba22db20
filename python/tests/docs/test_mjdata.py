"""Tests that the page on mjData describes each of its fields once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import mujoco

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mjdata.md"
HEADER = Path(mujoco.__file__).parent / "include" / "mujoco" / "mjdata.h"


def find_fields() -> list[str]:
    """Returns the members of the struct mjData of MuJoCo's header."""
    struct = re.search(
        r"typedef struct mjData_ \{(.*?)^\} mjData;", HEADER.read_text(), re.S | re.M
    )
    assert struct is not None
    code = re.sub(r"//.*", "", struct[1])
    return re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*;", code)


def find_described_fields() -> list[str]:
    """Returns the names in the first column of the page's table of fields."""
    table = PAGE.read_text().split("## Fields")[1].split("(simulator-forward)=")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_the_header_lists_the_fields_of_the_binding() -> None:
    fields = find_fields()
    assert len(fields) > 200
    data = mujoco.MjData(mujoco.MjModel.from_xml_string("<mujoco/>"))
    for name in ("qpos", "efc_J_colind", "solver_fwdinv", "flg_rnepost", "ifrc_constraint"):
        assert name in fields
        assert hasattr(data, name)


def test_each_field_is_described_once() -> None:
    described = Counter(find_described_fields())
    fields = set(find_fields())
    assert fields - set(described) == set(), "the page lacks these fields"
    assert set(described) - fields == set(), "mjData has no such fields"
    assert [name for name, count in described.items() if count > 1] == []
