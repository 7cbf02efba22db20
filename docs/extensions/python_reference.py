"""Sphinx extension: the reference of the Python package, by autodoc.

The compiled module is documented from its stub, which has the types that compiled classes do not
show to autodoc.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib.abc import SourceLoader
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing
from plain_text import convert_docstring
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

_COMPILED = "stiction._core"

# Annotations with the memory layout of arrays, which are removed because readers do not need them.
_ANNOTATED = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\([^()]*(?:\([^()]*\)[^()]*)*\)\]")


class _Array:
    """Replaces NDArray, whose full name is long. Docstrings describe the content of arrays."""

    def __class_getitem__(cls, item: Any) -> type:
        return np.ndarray


class _StubLoader(SourceLoader):
    """Loads a stub as if it were the module."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_filename(self, fullname: str) -> str:
        return str(self._path)

    def get_data(self, path: str) -> bytes:
        text = _ANNOTATED.sub(r"\1", self._path.read_text())
        return f"from __future__ import annotations\n{text}".encode()


def load_stub() -> None:
    """Replaces the compiled module by its stub, for all later imports of the package.

    Raises:
        ExtensionError: the package is not installed.
    """
    package = importlib.util.find_spec("stiction")
    path = Path(package.origin).parent / "_core.pyi" if package and package.origin else None
    if path is None or not path.exists():
        raise ExtensionError(
            "the package stiction is not installed with its stub; ./dev setup installs it"
        )
    loader = _StubLoader(path)
    spec = importlib.util.spec_from_file_location(_COMPILED, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[_COMPILED] = module
    loader.exec_module(module)


def _convert(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = convert_docstring("\n".join(lines)).splitlines()


def setup(app: Sphinx) -> dict[str, bool]:
    np.typing.NDArray = _Array
    load_stub()
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _convert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
