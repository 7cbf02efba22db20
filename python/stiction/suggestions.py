"""Suggests a name for one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

_MAX_LISTED = 40  # choices are listed in full; a scene may have thousands of names


def suggest_name(name: str, names: Sequence[str]) -> str:
    """Returns a suggestion for a message: "(did you mean 'x'?)", or a list if no name is similar."""
    by_lower_case = {other.lower(): other for other in reversed(names)}
    near = [
        by_lower_case[other]
        for other in difflib.get_close_matches(name.lower(), list(by_lower_case), n=1)
    ]
    if near:
        return f"(did you mean '{near[0]}'?)"
    shown = ", ".join(f"'{n}'" for n in names[:_MAX_LISTED])
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"(there are {shown}{more})" if shown else "(there are none)"
