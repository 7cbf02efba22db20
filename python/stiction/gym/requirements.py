"""The optional packages that stiction.gym needs."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from pathlib import Path

from stiction.errors import Error

INSTALL = 'pip install "stiction[gym]"'


def check_gymnasium() -> None:
    """Raises ImportError if Gymnasium is missing, or too old for autoreset modes."""
    if importlib.util.find_spec("gymnasium") is None:
        raise ImportError(f"stiction.gym needs Gymnasium, which is not installed; run {INSTALL}")
    found = version("gymnasium")
    if tuple(int(number) for number in found.split(".")[:2]) < (1, 4):
        raise ImportError(
            f"stiction.gym needs Gymnasium 1.4 or later, but {found} is installed; run {INSTALL}"
        )


def find_asset(package: str, path: str) -> Path:
    """Returns the path of a file in an installed package, without importing it, or raises Error."""
    command = INSTALL if package == "gymnasium" else f"{INSTALL} {package.replace('_', '-')}"
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Error(
            "unsupported",
            path,
            f"is a file of the package {package.replace('_', '-')}, which is not installed; "
            f"run {command}",
        )
    file = Path(spec.origin).parent / path
    if not file.is_file():
        raise Error(
            "unsupported",
            str(file),
            f"does not exist, although {package.replace('_', '-')} is installed; another version of "
            f"it may have it elsewhere; run {command}",
        )
    return file
