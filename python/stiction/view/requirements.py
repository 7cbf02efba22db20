"""The packages that the viewer needs, which are optional."""

from __future__ import annotations

import importlib.util

from stiction.errors import Error

_PACKAGES = ("viser", "mjviser")


def find_missing() -> list[str]:
    """Returns the names of the packages that are not installed."""
    return [name for name in _PACKAGES if importlib.util.find_spec(name) is None]


def can_view() -> bool:
    """True if all packages are installed."""
    return not find_missing()


def require_viewer() -> None:
    """Raises Error if a package is missing."""
    if missing := find_missing():
        verb = "is" if len(missing) == 1 else "are"
        raise Error(
            "unsupported",
            "view",
            f"the viewer needs {' and '.join(missing)}, which {verb} not installed; "
            "run pip install 'stiction[view]'",
        )
