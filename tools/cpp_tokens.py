"""Reads C++ source as a tree of tokens and bracketed groups, without a compiler.

The source must be formatted by clang-format, as `./dev lint` requires. Then a binary operator has
white space on both sides, whereas a bracket of template arguments, a unary operator and the `&` of a
reference have not. No types need to be known to tell these apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

_TOKEN = re.compile(
    r"""
    (?P<skip> //(?:\\\n|[^\n])* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])* | \s+ )
  | (?P<text> (?:u8|[uUL])?R"(?P<mark>[^\s()\\"]*)\(.*?\)(?P=mark)"
            | (?:u8|[uUL])?"(?:\\.|[^"\\])*" | (?:u8|[uUL])?'(?:\\.|[^'\\])+' )
  | (?P<number> \.?\d(?:[eEpP][+-]|'\w|[\w.])* )
  | (?P<name> [A-Za-z_]\w* )
  | (?P<sign> <=> | <<= | >>= | \.\.\. | ->\* | [-+*/%^&|=!<>]= | && | \|\| | << | >> | \+\+ | --
            | -> | :: | \.\* | . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass
class Node:
    """A token, or a group of nodes between brackets, whose text is the opening bracket."""

    text: str
    line: int
    kind: str  # name, number, text, sign or group
    is_spaced: bool = False  # white space on both sides, as binary operators have
    items: list[Node] = field(default_factory=list)

    def is_group(self, brackets: str = "([{<") -> bool:
        return self.kind == "group" and self.text in brackets

    @cached_property
    def lambda_bodies(self) -> set[int]:
        """The indices of the items that are bodies of lambdas."""
        captures = (i for i in range(len(self.items)) if is_lambda(self.items, i))
        return {find_lambda_body(self.items, i) for i in captures} - {-1}

    @cached_property
    def is_block(self) -> bool:
        """True for braces around statements or declarations, and not around a list of values."""
        return self.is_group("{") and any(
            item.text == ";" or (item.is_block and i not in self.lambda_bodies)
            for i, item in enumerate(self.items)
        )


def read_tree(source: str) -> Node:
    """Returns a group with the nodes of a source. Comments and preprocessor lines are left out.

    Raises ValueError with the line if brackets do not match.
    """
    root = Node("{", 1, "group")
    stack = [root]
    for token in _list_tokens(source):
        items = stack[-1].items
        if token.text in ("(", "[", "{") or _opens_arguments(token, items):
            token.kind = "group"
            items.append(token)
            stack.append(token)
        elif token.text in (">", ">>") and stack[-1].text == "<":
            for _ in token.text:
                if stack[-1].text == "<":
                    stack.pop()
        elif token.text in (")", "]", "}"):
            if len(stack) == 1 or _CLOSING[stack[-1].text] != token.text:
                raise ValueError(f"{token.line}: '{token.text}' closes no bracket")
            stack.pop()
        else:
            items.append(token)
    if len(stack) > 1:
        raise ValueError(f"{stack[-1].line}: '{stack[-1].text}' is not closed")
    return root


def walk(node: Node) -> Iterator[Node]:
    """Yields all groups of a tree from outside to inside, the node first."""
    yield node
    for item in node.items:
        if item.is_group():
            yield from walk(item)


def is_lambda(items: list[Node], i: int) -> bool:
    """Returns whether the group at i is the capture of a lambda: no subscript and no attribute."""
    if not items[i].is_group("[") or (items[i].items and items[i].items[0].is_group("[")):
        return False
    before = items[i - 1] if i > 0 else None
    return not before or before.text == "return" or before.kind in ("sign", "number", "text")


def find_lambda_body(items: list[Node], i: int) -> int:
    """Returns the index of the body of the lambda whose capture is at i; -1 if there is none."""
    for k in range(i + 1, len(items)):
        if items[k].is_group("{"):
            return k
        if items[k].text in (",", ";", "="):
            break
    return -1


def _list_tokens(source: str) -> Iterator[Node]:
    line = 1
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup or "", match[0]
        if kind == "mark":
            kind = "text"
        if kind != "skip":
            around = (
                source[match.start() - 1 : match.start()] + source[match.end() : match.end() + 1]
            )
            yield Node(text, line, kind, around.isspace() and len(around) == 2)
        line += text.count("\n")


def _opens_arguments(token: Node, items: list[Node]) -> bool:
    """Returns whether `<` opens template arguments or parameters."""
    if token.text != "<" or not items or items[-1].text == "operator":
        return False
    return items[-1].text == "template" or (
        not token.is_spaced and items[-1].kind in ("name", "group")
    )
