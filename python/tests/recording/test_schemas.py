"""Schemas of recordings with any JSON in place of what belongs there."""

import itertools
import json

import pytest

from stiction.recording import format as fmt

VALUES = [
    None,
    True,
    1,
    -1,
    1.5,
    "x",
    "<f8",
    [],
    [1],
    [-1],
    [[1]],
    ["1"],
    [1, 1],
    {},
    {"0": 1},
    {"x": []},
]


@pytest.mark.parametrize("place", [0, 1, 2, None])
def test_a_damaged_state_schema_is_a_value_or_type_error(place: int | None) -> None:
    num_refused = 0
    for value, with_time in itertools.product(VALUES, (True, False)):
        field = ["qpos", "<f8", [3]]
        if place is not None:
            field[place] = value
        start = [["time", "<f8", [1]], ["ctrl", "<f8", [2]]] if with_time else []
        fields = [*start, field if place is not None else value]
        try:
            fmt.parse_state_schema(json.dumps(fields).encode())
        except (ValueError, TypeError):  # Recording turns both into a stiction.Error
            num_refused += 1
    assert num_refused >= len(VALUES)
