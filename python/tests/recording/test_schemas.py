"""Schemas of recordings with any JSON in place of what belongs there."""

import itertools
import json
from collections.abc import Iterator

import numpy as np
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


DEEP = b"[" * 100_000
PARSERS = {"state": fmt.parse_state_schema, "records": fmt.parse_record_schema}
VALID = {
    "state": [["time", "<f8", [1]], ["ctrl", "<f8", [2]], ["qpos", "<f8", [3]]],
    "records": [["geoms", "<i4", [2]], ["point", "<f4", [3]]],
}


def damaged_schemas(valid: list[list[object]]) -> Iterator[bytes]:
    """Yields schemas in which the last field, a part of it, or the whole is another value."""
    for value, place in itertools.product(VALUES, (0, 1, 2, None)):
        field = list(valid[-1])
        if place is not None:
            field[place] = value
        yield json.dumps([*valid[:-1], field if place is not None else value]).encode()
    yield from (json.dumps(value).encode() for value in VALUES)
    yield from (b"", b"\xff", DEEP, b'{"a":' * 100_000, b"9" * 5000, b"NaN", b'[["a", "O", []]]')
    yield json.dumps([*valid, valid[-1]]).encode()
    yield json.dumps([*valid[:-1], ["x", "<f8", [10**30]]]).encode()


@pytest.mark.parametrize("kind", PARSERS)
def test_a_damaged_schema_is_a_value_error(kind: str) -> None:
    PARSERS[kind](json.dumps(VALID[kind]).encode())
    num_refused = num_read = 0
    for data in damaged_schemas(VALID[kind]):
        try:
            PARSERS[kind](data)
            num_read += 1
        except ValueError:  # Recording turns it into a stiction.Error
            num_refused += 1
    assert num_refused > 5 * len(VALUES) - 20
    assert num_read < 12


@pytest.mark.parametrize(
    "dtype", [fmt.CONTACT_DTYPE, fmt.PATCH_DTYPE, fmt.FACE_DTYPE, fmt.VERTEX_DTYPE]
)
def test_the_schema_of_records_is_read_back(dtype: np.dtype[np.void]) -> None:
    assert fmt.parse_record_schema(fmt.record_schema(dtype)) == dtype
