"""Finds the classes, functions and variables that a C++ file defines, from its tree of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cpp_tokens import Node, read_tree, walk

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass
class Source:
    """A file and what it defines. Bodies of functions and classes are known by the id of their node."""

    path: Path
    tree: Node
    groups: list[Node]  # all of the tree
    includes: list[str]  # in quotes
    owners: dict[int, str] = field(default_factory=dict)  # body -> its class; "" if it has none
    functions: dict[int, tuple[str, Node]] = field(default_factory=dict)  # body -> name, parameters
    bases: dict[str, set[str]] = field(default_factory=dict)  # class -> names after its colon
    aliases: dict[str, str] = field(default_factory=dict)  # name -> type


def read_source(path: Path) -> Source:
    """Reads a file. Raises ValueError with the line if its brackets do not match."""
    text = path.read_text()
    tree = read_tree(text)
    source = Source(path, tree, list(walk(tree)), _INCLUDE.findall(text))
    _find_definitions(tree, "", source)
    for group in source.groups:
        source.aliases.update(_find_aliases(group.items))
    return source


def _find_aliases(items: list[Node]) -> Iterator[tuple[str, str]]:
    """Yields name and type of each `using name = namespace::type;`."""
    texts = [item.text for item in items]
    for i, text in enumerate(texts):
        if text == "using" and texts[i + 2 : i + 3] == ["="] and ";" in texts[i:]:
            yield texts[i + 1], texts[texts.index(";", i) - 1]


def _find_definitions(group: Node, owner: str, source: Source) -> None:
    """Finds classes and functions in a group of declarations."""
    head: list[Node] = []
    for item in group.items:
        is_body = item.is_group("{") and _add_definition(head, item, owner, source)
        if is_body or item.text == ";":
            head = []
        else:
            head.append(item)


def _add_definition(head: list[Node], body: Node, owner: str, source: Source) -> bool:
    """Adds the class or function of a body after the given tokens; returns whether it is one."""
    texts = [node.text for node in head]
    call = next((i for i, node in enumerate(head) if node.is_group("(")), 0)
    # Bases or initializers of members follow a spaced colon, an access specifier has none.
    colon = next((i for i, node in enumerate(head) if node.text == ":" and node.is_spaced), 0)
    if "namespace" in texts or "extern" in texts:
        _find_definitions(body, owner, source)
    elif "=" in texts or "enum" in texts or (0 < call < colon and head[-1].kind == "name"):
        return False  # an initializer of a variable or of a member, or names of values
    elif call:
        name = texts[call - 1]
        if call > 2 and texts[call - 2] == "::":
            owner = texts[call - 3]
        if name in ("TEST_F", "TEST_P", "TYPED_TEST", "BENCHMARK_F"):
            owner = head[call].items[0].text
        source.owners[id(body)] = owner
        source.functions[id(body)] = (name, head[call])
    else:
        at = next((i for i, text in enumerate(texts) if text in ("class", "struct", "union")), -1)
        if at < 0 or at + 1 == len(head):
            return False
        name = texts[at + 1]
        source.bases[name] = {text for text in texts[colon:] if colon and text.isidentifier()}
        source.owners[id(body)] = name
        _find_definitions(body, name, source)
    return True


@dataclass
class Variable:
    name: str
    type: str
    is_value: bool  # no reference and no pointer
    is_static: bool


def find_variables(group: Node, types: set[str]) -> Iterator[Variable]:
    """Yields the variables of the given types that a group declares directly."""
    items = group.items
    for i, item in enumerate(items):
        if item.kind != "name" or item.text not in types:
            continue
        k = i + 1
        while k < len(items) and items[k].text in ("*", "&", "&&", "const"):
            k += 1
        is_value = k == i + 1
        is_static = any(
            node.text in ("static", "thread_local") for node in items[max(0, i - 4) : i]
        )
        while k < len(items) and items[k].kind == "name":
            yield Variable(items[k].text, item.text, is_value, is_static)
            k += 1
            while k < len(items) and items[k].is_group("({"):
                k += 1
            if group.text != "{" or k + 1 >= len(items) or items[k].text != ",":
                break
            k += 1
