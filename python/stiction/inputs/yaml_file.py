"""YAML files as nodes, each with its file and line. The compiled module parses them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stiction._core import read_yaml
from stiction.errors import Error

_NULLS = ("", "~", "null", "Null", "NULL")
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?\d+")
_FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NANS = (".nan", ".NaN", ".NAN")

Scalar = None | bool | int | float | str


@dataclass(frozen=True)
class YamlNode:
    """A value of a YAML file: a scalar, a list of items, or the entries of a mapping.

    where: file and line, such as 'sweep.yaml:3'.
    entries: the keys and values of a mapping, or None. A key may occur twice.
    """

    where: str
    scalar: Scalar = None
    items: list[YamlNode] | None = None
    entries: list[tuple[YamlNode, YamlNode]] | None = None

    @property
    def is_null(self) -> bool:
        """True if there is no value."""
        return self.scalar is None and self.items is None and self.entries is None

    def describe(self) -> str:
        """Returns the value for a message, such as "'abc'", "a list" or "empty"."""
        if self.entries is not None:
            return "a mapping"
        if self.items is not None:
            return "a list"
        if self.scalar is None:
            return "empty"
        text = str(self.scalar)
        return f"'{text[:40]}...'" if len(text) > 40 else f"'{text}'"

    def make_plain(self) -> Any:
        """Returns the value in Python's own types. Error: a key is not a name, or occurs twice."""
        if self.items is not None:
            return [item.make_plain() for item in self.items]
        if self.entries is None:
            return self.scalar
        plain = {}
        for key, value in self.entries:
            if not isinstance(key.scalar, str):
                raise Error("syntax", key.where, f"has {key.describe()} as a key; use a name")
            if key.scalar in plain:
                raise Error("invalid_value", key.where, f"has '{key.scalar}' twice; remove one")
            plain[key.scalar] = value.make_plain()
        return plain


def read_yaml_file(path: Path, what: str) -> YamlNode:
    """Reads a YAML file with one document, or raises Error with file and line."""
    try:
        value = read_yaml(str(path), what)
    except UnicodeDecodeError as e:
        raise Error("syntax", str(path), f"is not UTF-8 ({e.reason}); save it as UTF-8") from e
    return _make_node(value, path)


def _make_node(value: tuple[str, int, Any], path: Path) -> YamlNode:
    kind, line, content = value
    where = f"{path}:{line}"
    if kind == "list":
        return YamlNode(where, items=[_make_node(item, path) for item in content])
    if kind == "mapping":
        nodes = [_make_node(item, path) for item in content]
        return YamlNode(where, entries=list(zip(nodes[::2], nodes[1::2], strict=True)))
    if kind == "null":
        return YamlNode(where)
    return YamlNode(where, content if kind == "quoted" else _resolve(content))


def _resolve(text: str) -> Scalar:
    """Returns the value of a plain scalar by the core schema of YAML 1.2, decimal numbers only."""
    if text in _NULLS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    if _INTEGER.fullmatch(text) and len(text) < 20:
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITY.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    return math.nan if text in _NANS else text
