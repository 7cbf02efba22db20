"""Names of models, laws and elements: labels, texts to show, and suggestions for unknown ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

import mujoco

from stiction._core import ContactModelTraits, contact_model_traits, contact_models
from stiction.errors import Error

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


def find_models(fits: Callable[[ContactModelTraits], bool]) -> list[str]:
    """Returns the names of the contact models whose traits satisfy a predicate."""
    return [name for name in contact_models() if fits(contact_model_traits(name))]


def find_compliant_models() -> list[str]:
    """Returns the contact models whose surfaces give way; 'mujoco' is one."""
    return find_models(lambda model: not model.is_rigid)


def accepts_law(contact_model: str, friction_law: str) -> bool:
    """True unless the model refuses the friction law, as most do 'elastic'."""
    return friction_law != "elastic" or contact_model_traits(contact_model).takes_anchors


def label_model(contact_model: str, friction_law: str) -> str:
    """Returns a model's name in a table, which says if it refuses the law and has its own friction."""
    is_own = not accepts_law(contact_model, friction_law)
    return f"{contact_model}, own friction" if is_own else contact_model


def choose_friction_law(contact_model: str, friction_law: str) -> dict[str, str]:
    """Returns the argument friction_law of Simulator; none for a model with its own friction."""
    takes_laws = contact_model_traits(contact_model).takes_laws
    is_taken = takes_laws and accepts_law(contact_model, friction_law)
    return {"friction_law": friction_law} if is_taken else {}


def advise_elastic(labels: Sequence[str], friction_law: str, body: str) -> str:
    """Returns what holds a body without creep, for models that creep; empty if there are none."""
    if not labels:
        return ""
    if friction_law == "automatic":  # models that creep are not those that it gives springs
        friction_law = "soft"
    return (
        f"{', '.join(labels)}: friction creeps while it holds, by the regularization of friction_law "
        f"'{friction_law}'; --friction-law elastic holds '{body}' on springs that do not creep"
    )


def make_printable(text: str) -> str:
    """Replaces control characters, which change what a terminal shows, by escapes such as \\x1b."""
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def _suggest_geom(model: mujoco.MjModel, geom: str) -> str:
    """Returns a suggestion: a similar name, the geoms of a body with a similar name, or a list."""
    names = [name for i in range(model.ngeom) if (name := model.geom(i).name)]
    bodies = [model.body(i).name for i in range(model.nbody)]
    similar_bodies = find_similar(geom, bodies)
    if find_similar(geom, names) or not similar_bodies:
        return suggest_name(geom, names)
    found = [i for i in range(model.ngeom) if bodies[model.geom_bodyid[i]] in similar_bodies]
    geoms = list_names([model.geom(i).name or f"#{i}" for i in found])
    owner = f"{'the bodies' if len(similar_bodies) > 1 else 'body'} {list_names(similar_bodies)}"
    return f"(did you mean a geom of {owner}: {geoms}?)" if found else suggest_name(geom, names)


def find_geom(model: mujoco.MjModel, geom: str | int) -> int:
    """Returns the id of a geom by name, int or text such as '#12', or raises Error with a suggestion."""
    if isinstance(geom, str):
        index: int = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, geom)
        if index >= 0 and geom:
            return int(index)
        match = re.fullmatch(r"#(\d{1,9})", geom)
        if not match:
            raise Error(
                "unknown_name",
                "geom",
                f"there is no '{geom}' {_suggest_geom(model, geom)}; geoms without a name are #ID",
            )
        geom = int(match[1])
    if isinstance(geom, bool) or not isinstance(geom, int):
        raise Error("wrong_shape", "geom", f"is {geom!r}, must be a name or an id")
    if not 0 <= geom < model.ngeom:
        raise Error(
            "unknown_name", "geom", f"there is no #{geom}; the scene has {model.ngeom} geoms"
        )
    return geom
