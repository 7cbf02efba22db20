"""Suggests a name for one that is not known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

_MAX_SIMILAR = 4
_MIN_ABBREVIATION = 3  # characters; less begins too many names
_MAX_LISTED = 40  # choices are listed in full; a scene may have thousands of names


def find_similar(name: str, names: Sequence[str]) -> list[str]:
    """Returns the most similar name, or the names with a similar word ('fingr': 'left_finger').

    An abbreviation gives the names that begin with it ('tol': 'tolerance'), or have a word which does.
    """
    start = name.lower()
    long_enough = len(start) >= _MIN_ABBREVIATION
    abbreviated = [n for n in names if long_enough and n.lower().startswith(start)]
    by_lower_case = {other.lower(): other for other in reversed(names)}
    words = {other: re.split(r"[-_./ ]", other.lower()) for other in names}
    every_word = sorted({word for found in words.values() for word in found if word})
    near = difflib.get_close_matches(start, [*by_lower_case, *every_word], n=1)
    nearest = by_lower_case.get(near[0]) if near else None
    if nearest and (nearest in abbreviated or not abbreviated):
        return [nearest]
    if abbreviated:
        return abbreviated
    if near:
        return [other for other, found in words.items() if near[0] in found]
    return [n for n in words if long_enough and any(w.startswith(start) for w in words[n])]


def list_names(names: Sequence[str]) -> str:
    """Returns quoted names, separated by commas, and the number of those that do not fit."""
    shown = ", ".join(f"'{n}'" for n in names[:_MAX_LISTED])
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return shown + more


def suggest_name(name: str, names: Sequence[str]) -> str:
    """Returns a suggestion for a message: "(did you mean 'x'?)", or a list if no name is similar."""
    similar = find_similar(name, names)
    if similar:
        return f"(did you mean {_join(similar[:_MAX_SIMILAR])}?)"
    return f"(there are {list_names(names)})" if names else "(there are none)"


def _join(names: Sequence[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)
