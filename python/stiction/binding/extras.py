"""Imports of packages that only an extra of the installation brings."""

from __future__ import annotations

import importlib
from typing import Any

from stiction.errors import Error


def import_extra(module: str, what: str, need: str, extra: str) -> Any:
    """Imports a module of an optional package.

    Args:
        module: its name, such as 'pyarrow.parquet'.
        what: what needs it, for the message.
        need: why, for the message, such as 'needs pyarrow to write Parquet files'.
        extra: the extra of Stiction that installs it.

    Returns:
        The package of the module, such as pyarrow.

    Raises:
        Error: it cannot be imported.
    """
    try:
        package = importlib.import_module(module.partition(".")[0])
        importlib.import_module(module)
    except ImportError as e:
        raise Error(
            "unsupported",
            what,
            f"{need}, which cannot be imported ({e}); run: pip install 'stiction[{extra}]'",
        ) from e
    return package
