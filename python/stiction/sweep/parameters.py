"""The parameters of a sweep's grid: options, properties of materials, and fields of the model."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from stiction._core import check_model, check_option
from stiction.errors import Error, ErrorList, StictionWarning, warn
from stiction.inputs.names import suggest_name
from stiction.inputs.yaml_file import YamlNode
from stiction.setup.options import OPTIONS

# The elements of a model that a parameter may name, and the numbers of them in MjModel.
_COUNTS = {
    "actuator": "nu",
    "body": "nbody",
    "equality": "neq",
    "geom": "ngeom",
    "joint": "njnt",
    "site": "nsite",
    "tendon": "ntendon",
}
_RESERVED = {
    "contact_model": "list contact models under 'contact_models'",
    "time_step": "list time steps under 'time_steps'",
    "opt.timestep": "list time steps under 'time_steps'",
    "seed": "list seeds under 'seeds'",
    "trace": "a row has no place for the course of Newton's method; use stiction.Simulator",
}
MATERIALS, OPTION = "materials", "option"


@dataclass(frozen=True)
class Value:
    """A value of a parameter, with its file and line."""

    value: Any
    where: str


@dataclass(frozen=True)
class Parameter:
    """A parameter that varies.

    name: name of an option of Simulator; 'materials.NAME.PROPERTY' of contact properties;
        'KIND.NAME.FIELD' of elements of the model, whose NAME may be a pattern; or 'opt.FIELD'.
    kind: 'option', 'materials', 'opt', or the kind of the elements.
    """

    name: str
    kind: str
    values: list[Value]

    @property
    def changes_model(self) -> bool:
        """True if the parameter is a field of the MuJoCo model."""
        return self.kind not in (OPTION, MATERIALS)


def make_parameter(name: str, key: YamlNode, nodes: list[YamlNode]) -> Parameter:
    """Makes a parameter from an entry of the grid. Error: it is unknown, or a value is wrong."""
    if name in _RESERVED:
        raise Error("invalid_value", key.where, f"'{name}' cannot vary here; {_RESERVED[name]}")
    kind = OPTION if name in OPTIONS else name.partition(".")[0]
    values = [Value(node.make_plain(), node.where) for node in nodes]
    if kind == OPTION:
        faults = ErrorList()
        for value in values:
            try:
                _check_option(name, value)
            except Error as e:
                faults.add(e)
        faults.raise_if_any()
    elif kind in (MATERIALS, *_COUNTS):
        if len(name.split(".")) < 3:
            last = "PROPERTY" if kind == MATERIALS else "FIELD"
            raise Error(
                "invalid_value", key.where, f"'{name}' is not complete; write {kind}.NAME.{last}"
            )
    elif kind != "opt" or name == "opt":
        raise Error(
            "unknown_name",
            key.where,
            f"there is no parameter '{name}' {suggest_name(name, list(OPTIONS))}; parameters that are "
            "not options are written as materials.NAME.PROPERTY, geom.NAME.FIELD (or "
            f"{', '.join(other for other in _COUNTS if other != 'geom')}) or opt.FIELD",
        )
    texts = [repr(value.value) for value in values]
    for i, value in enumerate(values):
        if texts[i] in texts[:i]:
            raise Error("invalid_value", value.where, f"{name} has {texts[i]} twice; remove one")
    return Parameter(name, kind, values)


def split_name(name: str) -> tuple[str, str]:
    """Returns NAME and FIELD of 'KIND.NAME.FIELD'. NAME may contain dots."""
    element, _, field = name.partition(".")[2].rpartition(".")
    return element, field


def change_model(model: mujoco.MjModel, name: str, value: Any) -> None:
    """Sets a field of a model, 'opt.FIELD' or 'KIND.NAME.FIELD' with a pattern for NAME, or raises Error.

    Fewer numbers than the field has set its first ones, as in MJCF.
    """
    element, field = split_name(name)
    if name.startswith("opt."):
        _set_field(model.opt, field, name, value)
        check_model(model._address)
        return
    for view in _find_elements(model, name.partition(".")[0], element):
        _set_field(view, field, name, value)
    check_model(model._address)
    _update_constants(model, name)


def _update_constants(model: mujoco.MjModel, name: str) -> None:
    """Computes what MuJoCo derives from the fields, and gives its warnings as Python's."""
    reasons: list[str] = []
    outer = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(reasons.append)
    try:
        mujoco.mj_setConst(model, mujoco.MjData(model))
    finally:
        mujoco.set_mju_user_warning(outer)
    for reason in dict.fromkeys(reasons):
        warn(StictionWarning(f"{name}: MuJoCo: {reason.strip()}"))


def _check_option(name: str, value: Value) -> None:
    try:
        check_option(name, OPTIONS[name].check_type(value.value))
    except Error as e:
        message = e.message if e.where in ("", name) else f"{e.where}: {e.message}"
        raise Error(e.code, value.where, f"{name}: {message}") from e


def _find_elements(model: mujoco.MjModel, kind: str, pattern: str) -> Iterator[Any]:
    get = getattr(model, kind)
    views = [get(i) for i in range(getattr(model, _COUNTS[kind]))]
    names = [view.name for view in views]
    # A name may contain the characters of patterns.
    found = [
        view
        for view, name in zip(views, names, strict=True)
        if (name == pattern if pattern in names else fnmatch.fnmatchcase(name, pattern))
    ]
    if not found:
        known = [name for name in names if name]
        message = f"there is no {kind} '{pattern}' {suggest_name(pattern, known)}"
        raise Error("unknown_name", "", message)
    yield from found


def _set_field(owner: Any, field: str, name: str, value: Any) -> None:
    known = [
        attribute
        for attribute in dir(owner)
        if not attribute.startswith("_")
        and attribute not in ("id", "name")
        and isinstance(getattr(owner, attribute), int | float | np.ndarray)
    ]
    if field not in known:
        message = f"{name}: there is no field '{field}' {suggest_name(field, known)}"
        raise Error("unknown_name", "", message)
    current = getattr(owner, field)
    numbers = np.array(value if isinstance(value, list) else [value], dtype=object)
    size = current.size if isinstance(current, np.ndarray) else 1
    _check_numbers(name, numbers, size)
    if isinstance(current, np.ndarray):
        if not np.issubdtype(current.dtype, np.floating):
            _check_integers(name, numbers)
        current.flat[: len(numbers)] = numbers.astype(current.dtype)
    else:
        if isinstance(current, int):
            _check_integers(name, numbers)
        setattr(owner, field, type(current)(numbers[0]))


def _check_numbers(name: str, numbers: np.ndarray, size: int) -> None:
    if numbers.ndim != 1 or not 0 < len(numbers) <= size:
        message = f"{name} has {numbers.size} values, must be 1 to {size} numbers"
        raise Error("wrong_shape", "", message)
    for number in numbers:
        if not isinstance(number, bool | int | float) or math.isnan(number):
            raise Error("wrong_shape", "", f"{name} is {number!r}, must be a number")


def _check_integers(name: str, numbers: np.ndarray) -> None:
    for number in numbers:
        if number != int(number):
            raise Error("wrong_shape", "", f"{name} is {number!r}, must be an integer")
