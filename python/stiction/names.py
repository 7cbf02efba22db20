"""Names that users misspell."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def suggest_name(name: str, names: Sequence[str]) -> str:
    """ "(did you mean 'x'?)", or the list of names when none is near."""
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"(did you mean '{near[0]}'?)"
    shown = ", ".join(f"'{n}'" for n in names[:12])
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"(there are {shown}{more})" if shown else "(there are none)"
