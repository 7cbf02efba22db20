"""The format of recordings, which docs/recordings.md describes: names, message layouts and hashes."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.recording.model_indices import check_indices
from stiction.tables.contact_table import ANCHOR_TABLE
from stiction.tables.record_table import REPORT_ARRAYS, Field

FORMAT = 2
PROFILE = "stiction"
METADATA = "stiction"
END_METADATA = "stiction.end"
MODEL_ATTACHMENT = "model.mjb.zst"

START, STEP, FAILED_STEP = "/start", "/step", "/failed_step"
MEMORY = "/memory"
ADVANCE = "/advance"
ANCHORS = "/anchors"
MEMORY_HEAD = 32  # size of Simulator.get_state() of a simulator that remembers nothing [bytes]
REPORT, CONTACTS = "/report", "/contacts"
PATCHES, FACES, VERTICES = "/patches", "/patch_faces", "/patch_vertices"

# A binary message is one packed little-endian record or a sequence of them. Its schema is a JSON
# list of [name, type, shape] with NumPy's names of types.
MESSAGE_ENCODING = "x-numpy"
SCHEMA_ENCODING = "x-numpy-dtype"

Vector = NDArray[np.float64]
Layout = dict[str, slice]

# mj_getState concatenates the components in the order of their bits.
_COMPONENTS = {
    name.removeprefix("mjSTATE_").lower(): bit
    for name, value in mujoco.mjtState.__members__.items()
    if name.startswith("mjSTATE_") and (bit := int(value)).bit_count() == 1
}
INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)
USER = int(mujoco.mjtState.mjSTATE_USER)

DIGEST_SIZE = 16
_MAX_STATE = 1 << 31  # largest accepted number of entries of a state
_MAX_RECORD = 1 << 16  # largest accepted number of entries of a record
_TYPES = ("<f8", "<f4", "<i4", "<u8", "u1")  # of fields


def make_record_dtype(fields: Iterable[Field]) -> np.dtype[np.void]:
    """Returns the type of recorded rows with these fields: single precision, and flags at the end."""
    kinds = {"i4": "<i4", "f8": "<f4", "?": "u1"}
    ordered = sorted(fields, key=lambda field: field[1] == "?")
    return np.dtype([(name, kinds[kind], shape) for name, kind, shape, *_ in ordered])


def _make_report_dtype(item: str) -> np.dtype[np.void]:
    arrays = (array for array in REPORT_ARRAYS if array.item == item and array.is_recorded)
    return make_record_dtype(array.field for array in arrays)


CONTACT_DTYPE = _make_report_dtype("contact")
PATCH_DTYPE = _make_report_dtype("patch")
FACE_DTYPE = _make_report_dtype("face")
VERTEX_DTYPE = _make_report_dtype("vertex")
ANCHOR_DTYPE = make_record_dtype(ANCHOR_TABLE.fields)
# The topics with a sequence of records, which grow by fields.
RECORD_DTYPES = {
    CONTACTS: CONTACT_DTYPE,
    PATCHES: PATCH_DTYPE,
    FACES: FACE_DTYPE,
    VERTICES: VERTEX_DTYPE,
    ANCHORS: ANCHOR_DTYPE,
}


def get_state(model: mujoco.MjModel, data: mujoco.MjData) -> Vector:
    """Returns a copy of the components of mjSTATE_INTEGRATION, (size,)."""
    state = np.empty(mujoco.mj_stateSize(model, INTEGRATION))
    mujoco.mj_getState(model, data, state, INTEGRATION)
    return state


def make_layout(model: mujoco.MjModel) -> Layout:
    """Returns the slice of each component in a vector of mjSTATE_INTEGRATION, empty slices included."""
    layout: Layout = {}
    begin = 0
    for name, bit in sorted(_COMPONENTS.items(), key=lambda item: item[1]):
        if bit & INTEGRATION:
            end = begin + mujoco.mj_stateSize(model, bit)
            layout[name] = slice(begin, end)
            begin = end
    return layout


def input_names() -> list[str]:
    """Returns the names of the components that the user sets and that a step does not change."""
    return [name for name, bit in _COMPONENTS.items() if bit & USER]


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Parses a JSON object, or raises ValueError."""
    value = _parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def _parse_json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError as e:
        raise ValueError("its JSON is nested too deeply") from e


def state_size(layout: Layout) -> int:
    """Returns the number of entries of a state."""
    return max((part.stop for part in layout.values()), default=0)


def state_schema(layout: Layout, with_digest: bool) -> bytes:
    """Returns the schema of /start and /failed_step or, with a digest in front, of /step."""
    fields: list[list[Any]] = [["digest", "u1", [DIGEST_SIZE]]] if with_digest else []
    fields += [[name, "<f8", [part.stop - part.start]] for name, part in layout.items()]
    return json.dumps(fields).encode()


def _parse_fields(data: bytes) -> list[tuple[str, str, tuple[int, ...]]]:
    """Parses the fields [name, type, shape] of a schema, or raises ValueError."""
    fields = _parse_json(data)
    if not isinstance(fields, list) or not fields:
        raise ValueError("it is not a list of [name, type, shape]")
    parsed = []
    for entry in fields:
        if not isinstance(entry, list) or [type(part) for part in entry] != [str, str, list]:
            raise ValueError(f"{str(entry)[:80]!r} is not [name, type, shape]")
        name, kind, shape = entry
        if kind not in _TYPES or any(type(size) is not int or size < 0 for size in shape):
            raise ValueError(f"field '{name}' has the type {kind!r} and the shape {shape}")
        parsed.append((name, kind, tuple(shape)))
    if len({name for name, _, _ in parsed}) < len(parsed):
        raise ValueError("two fields have the same name")
    return parsed


def parse_state_schema(data: bytes) -> Layout:
    """Parses the layout that state_schema wrote, or raises ValueError."""
    layout: Layout = {}
    begin = 0
    for name, kind, shape in _parse_fields(data):
        if name == "digest":
            continue
        if kind != "<f8" or len(shape) != 1:
            raise ValueError(f"field '{name}' is {kind} {list(shape)}, not a vector of float64")
        layout[name] = slice(begin, begin + shape[0])
        begin += shape[0]
    if layout.get("time") != slice(0, 1) or "ctrl" not in layout:
        raise ValueError("it does not begin with the time, or it has no controls")
    if begin > _MAX_STATE:
        raise ValueError(f"a state of {begin} numbers is larger than the accepted {_MAX_STATE}")
    return layout


def record_schema(dtype: np.dtype[np.void]) -> bytes:
    """Returns the schema of a sequence of records, such as /contacts."""
    fields = []
    for name in dtype.names or ():
        base, shape = dtype[name].base, dtype[name].shape
        fields.append([name, base.str.replace("|", ""), list(shape)])
    return json.dumps(fields).encode()


def parse_record_schema(data: bytes) -> np.dtype[np.void]:
    """Parses the type of records that record_schema wrote, or raises ValueError."""
    fields = _parse_fields(data)
    numbers = sum(math.prod(shape) for _, _, shape in fields)
    if not 0 < numbers <= _MAX_RECORD:
        raise ValueError(f"a record has {numbers} numbers, not 1 to {_MAX_RECORD}")
    return np.dtype(fields)


@functools.cache
def report_schema() -> bytes:
    """Returns the JSON schema of /report."""
    number = {"type": ["number", "null"]}
    integer = {"type": "integer"}
    properties: dict[str, Any] = {
        "step": integer,
        "time": number | {"description": "time at the end of the step [s]"},
        "status": {"type": "string"},
        "message": {"type": "string"},
        "num_contacts": integer,
        "iterations": integer,
        "num_parts": integer | {"description": "parts that the step was divided into"},
        "error_bound": number | {"description": "bound on |v - v_exact|_A [sqrt(J)]"},
        "velocity_bound": number
        | {"description": "bound on the velocity error of any contact point [m/s]"},
        "relative_residual": number | {"description": "relative residual of the solver [-]"},
        "coupling_error": number | {"description": "coupling error of 'coulomb' [-]"},
        "momentum_error": number | {"description": "error of the momentum balance [sqrt(J)]"},
    }
    return json.dumps({"type": "object", "properties": properties}).encode()


def hash_bytes(data: bytes | memoryview) -> bytes:
    """Returns the BLAKE2b hash of DIGEST_SIZE bytes."""
    return hashlib.blake2b(data, digest_size=DIGEST_SIZE).digest()


def hash_texts(texts: dict[str, str]) -> str:
    """Returns the hash of metadata, which MCAP lacks, without the entry 'digest' that stores it."""
    entries = sorted((key, text) for key, text in texts.items() if key != "digest")
    return hash_bytes(json.dumps(entries).encode()).hex()


def save_model(model: mujoco.MjModel) -> bytes:
    """Returns the compiled model in MuJoCo's binary format MJB."""
    buffer = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def load_model(model_bytes: bytes) -> mujoco.MjModel:
    """Loads the model that save_model wrote, or raises ValueError. No index leads out of its array."""
    reasons: list[str] = []
    outer = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(reasons.append)
    try:
        check_indices(model_bytes)
        model = mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": model_bytes})
        mujoco.MjData(model)
        return model
    except (ValueError, MemoryError, mujoco.FatalError) as e:
        raise ValueError("; ".join(reasons) or str(e)) from e
    finally:
        mujoco.set_mju_user_warning(outer)
