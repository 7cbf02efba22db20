"""Declarations of the public headers, from Doxygen's XML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, parse


@dataclass
class Declaration:
    """A declaration with its comment.

    kind: the directive of Sphinx's C++ domain, such as 'function'.
    signatures: the declaration as C++, then shorter forms that are used if Sphinx cannot parse it.
    comment: plain text.
    line: where the header declares it.
    members: what it contains, in the order of the header.
    """

    kind: str
    signatures: list[str]
    comment: str = ""
    line: int = 0
    members: list[Declaration] = field(default_factory=list)


@dataclass
class Header:
    """A header: the comment above its namespace, the namespace, and what it declares there."""

    comment: str = ""
    namespace: str = ""
    declarations: list[Declaration] = field(default_factory=list)


def read_headers(folder: Path) -> dict[str, Header]:
    """Reads a folder of Doxygen's XML.

    Returns:
        The headers by name, each with its declarations in their order.
    """
    compounds = {
        compound.get("id", ""): compound
        for path in sorted(folder.glob("*.xml"))
        for compound in parse(path).iter("compounddef")
    }
    nested = {
        inner.get("refid")
        for compound in compounds.values()
        if _is_class(compound)
        for inner in compound.iter("innerclass")
    }
    headers: dict[str, Header] = {}
    for name, compound in compounds.items():
        if compound.get("kind") == "file":
            _find_header(headers, compound).comment = _read_comment(compound)
        elif compound.get("kind") == "namespace":
            for member in compound.iter("memberdef"):
                _add(headers, member, _read_name(compound), _read_member(member))
        elif compound.get("kind") == "concept":
            _add(headers, compound, _read_scope(compound), _read_concept(compound))
        elif _is_class(compound) and name not in nested:
            _add(headers, compound, _read_scope(compound), _read_class(compound, compounds))
    for header in headers.values():
        header.declarations.sort(key=lambda declaration: declaration.line)
    return headers


def _add(
    headers: dict[str, Header], element: Element, namespace: str, declaration: Declaration | None
) -> None:
    if declaration is None:
        return
    header = _find_header(headers, element)
    header.namespace = namespace
    header.declarations.append(declaration)


def _find_header(headers: dict[str, Header], element: Element) -> Header:
    return headers.setdefault(_find(element, "location").get("file", ""), Header())


# ---- classes and concepts ------------------------------------------------------------------------


def _is_class(compound: Element) -> bool:
    return compound.get("kind") in ("class", "struct")


def _read_class(compound: Element, compounds: dict[str, Element]) -> Declaration:
    name = _read_name(compound).rpartition("::")[2]
    bases = [f"{base.get('prot')} {_join(base)}" for base in compound.iter("basecompoundref")]
    final = " final" if compound.get("final") == "yes" else ""
    inherits = f" : {', '.join(bases)}" if bases else ""
    members = [_read_member(member, name) for member in compound.iter("memberdef")]
    members += [
        _read_class(compounds[inner.get("refid", "")], compounds)
        for inner in compound.iter("innerclass")
        if inner.get("prot") == "public"
    ]
    return Declaration(
        kind=compound.get("kind", ""),
        signatures=[f"{_read_template(compound)}{name}{final}{inherits}", name],
        comment=_read_comment(compound),
        line=_read_line(compound),
        members=sorted(filter(None, members), key=lambda member: member.line),
    )


def _read_concept(compound: Element) -> Declaration:
    """Returns a concept; its requirements are appended to the comment, as code."""
    definition = "".join(_find(compound, "initializer").itertext()).partition("=")[2].strip()
    code = "\n".join(f"    {line}" for line in definition.splitlines())
    return Declaration(
        kind="concept",
        signatures=[f"{_read_template(compound)}{_read_name(compound).rpartition('::')[2]}"],
        comment=f"{_read_comment(compound)}\n\n{code}",
        line=_read_line(compound),
    )


def _read_template(element: Element) -> str:
    found = element.find("templateparamlist")
    if found is None:
        return ""
    parameters = (
        " ".join(filter(None, (_text(each, "type"), _text(each, "declname"))))
        for each in found.iter("param")
    )
    return f"template <{', '.join(parameters)}> "


# ---- members -------------------------------------------------------------------------------------


def _read_member(member: Element, class_name: str = "") -> Declaration | None:
    """Returns a member of a class or a namespace, or None if callers cannot see it."""
    kind = member.get("kind")
    if member.get("prot") != "public" or _is_special(member, class_name):
        return None
    if kind == "enum":
        declaration = _read_enum(member)
    elif kind == "function":
        declaration = _read_function(member)
    elif kind == "typedef":
        alias = f"{_text(member, 'name')} = {_text(member, 'type')}"
        declaration = Declaration("type", [alias])
    elif kind == "variable":
        declaration = _read_variable(member)
    else:
        return None
    declaration.comment = _read_comment(member)
    declaration.line = _read_line(member)
    return declaration


def _is_special(member: Element, class_name: str) -> bool:
    """Returns True for deduction guides, destructors, and copies and moves without a comment."""
    name = _text(member, "name")
    is_guide = member.get("kind") == "function" and not class_name and not _text(member, "type")
    if is_guide:
        return True
    if name.startswith("~"):
        return True
    if not class_name or name not in (class_name, "operator=") or _read_comment(member):
        return False
    argument = rf"\((const )?{class_name} ?&&?( \w+)?\).*"
    return re.fullmatch(argument, _text(member, "argsstring")) is not None


def _read_function(member: Element) -> Declaration:
    words = [word for word in ("static", "explicit") if member.get(word) == "yes"]
    if member.get("virt") != "non-virtual":
        words.append("virtual")
    words += [_text(member, "type"), _text(member, "name")]
    declaration = " ".join(filter(None, words))
    return Declaration(
        "function", [f"{_read_template(member)}{declaration}{_text(member, 'argsstring')}"]
    )


def _read_variable(member: Element) -> Declaration:
    static = "static " if member.get("static") == "yes" else ""
    declared = f"{_text(member, 'type')} {_text(member, 'name')}{_text(member, 'argsstring')}"
    name = f"{_read_template(member)}{static}{declared}"
    return Declaration("member", [f"{name} {_text(member, 'initializer')}".strip(), name])


def _read_enum(member: Element) -> Declaration:
    base = _text(member, "type")
    declaration = Declaration(
        "enum-class" if member.get("strong") == "yes" else "enum",
        [_text(member, "name") + (f" : {base}" if base else "")],
    )
    declaration.members = [
        Declaration(
            kind="enumerator",
            signatures=[f"{_text(value, 'name')} {_text(value, 'initializer')}".strip()],
            comment=_read_comment(value),
        )
        for value in member.iter("enumvalue")
    ]
    return declaration


# ---- elements ------------------------------------------------------------------------------------


def _read_name(compound: Element) -> str:
    return _text(compound, "compoundname")


def _read_scope(compound: Element) -> str:
    return _read_name(compound).rpartition("::")[0]


def _read_comment(element: Element) -> str:
    """Returns the text of the comments, which mark_comments has marked as verbatim."""
    comments = (
        (verbatim.text or "").strip("\n")
        for tag in ("briefdescription", "detaileddescription")
        for description in element.findall(tag)
        for verbatim in description.iter("verbatim")
    )
    return "\n\n".join(comments)


def _read_line(element: Element) -> int:
    return int(_find(element, "location").get("line", "0"))


def _find(element: Element, tag: str) -> Element:
    found = element.find(tag)
    return Element(tag) if found is None else found


def _text(element: Element, tag: str) -> str:
    return _join(_find(element, tag))


def _join(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
