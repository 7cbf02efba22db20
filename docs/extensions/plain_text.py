"""Converts comments and docstrings to reStructuredText.

Both are plain text that is also read in an editor:

    `code`                 a name or code
    an indented block      a formula or an example; it follows an empty line or a colon
    - item                 a list
    @param, @return, ...   in C++; in Python the sections Args, Attributes, Returns, Yields, Raises

All other characters have no special meaning.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

# The field of Sphinx for each section of a docstring; Sphinx has no field for attributes.
_FIELDS = {
    "Args": "param",
    "Attributes": "",
    "Raises": "raises",
    "Returns": "returns",
    "Yields": "yields",
}
_SECTION = re.compile(rf"({'|'.join(_FIELDS)}):")
_ITEM = re.compile(r"([\w., *]+):\s(.*)")

_COMMAND = re.compile(r"(?:^|\s)(?=@(?:param|tparam|return|throws)\b)")
_NAME = re.compile(r"([\w:]*)\W*(.*)")

_SPECIAL = re.compile(r"[\\*|]|_(?=\W|$)")


def convert_docstring(text: str) -> str:
    """Converts a docstring. Its sections become a list of fields."""
    lines = textwrap.dedent(text).splitlines()
    body: list[str] = []
    fields: list[str] = []
    i = 0
    while i < len(lines):
        if section := _SECTION.fullmatch(lines[i]):
            end = _find_block_end(lines, i + 1)
            fields += _convert_section(section[1], lines[i + 1 : end])
            i = end
        else:
            body.append(lines[i])
            i += 1
    return "\n".join([*_convert_lines(body), "", *fields])


def convert_comment(text: str) -> str:
    """Converts a Doxygen comment. Its commands become a list of fields."""
    body, *commands = _COMMAND.split(textwrap.dedent(text))
    return "\n".join([*_convert_lines(body.splitlines()), "", *map(_convert_command, commands)])


# ---- fields --------------------------------------------------------------------------------------


def _convert_section(name: str, lines: list[str]) -> Iterator[str]:
    field = _FIELDS[name]
    text = textwrap.dedent("\n".join(lines))
    if field in ("returns", "yields"):
        yield _make_field(field, "", text)
        return
    if not field:
        yield f":{name}:"
    for item in re.split(r"\n(?=\S)", text.strip()):
        match = _ITEM.fullmatch(" ".join(item.split()))
        if match is None:  # a sentence
            yield _make_field(field, "", item)
        elif field:
            yield from (_make_field(field, each, match[2]) for each in match[1].split(", "))
        else:
            yield f"   - **{_escape(match[1])}** -- {_escape(match[2])}"


def _convert_command(command: str) -> str:
    word, text = re.fullmatch(r"@(\w+)\s*(.*)", " ".join(command.split())).groups()
    if word == "return":
        return _make_field("returns", "", text)
    return _make_field(word, *_NAME.fullmatch(text).groups())


def _make_field(field: str, name: str, text: str) -> str:
    return f":{f'{field} {_escape(name)}'.strip()}: {_escape(' '.join(text.split()))}"


# ---- paragraphs ----------------------------------------------------------------------------------


def _convert_lines(lines: list[str]) -> Iterator[str]:
    """Yields paragraphs, lists and blocks of code, with empty lines between them."""
    i = 0
    in_list = False
    while i < len(lines):
        if not in_list and _begins_block(lines, i):
            end = _find_block_end(lines, i)
            yield from _make_block(lines[i:end])
            i = end
            continue
        if is_item := lines[i].startswith("- ") and not in_list:
            yield ""
        in_list = is_item or (in_list and (_is_indented(lines[i]) or lines[i].startswith("- ")))
        yield _escape(lines[i] if in_list else lines[i].strip())
        i += 1


def _is_indented(line: str) -> bool:
    return line.startswith("  ")


def _begins_block(lines: list[str], i: int) -> bool:
    before = lines[i - 1].rstrip() if i else ""
    return _is_indented(lines[i]) and (not before or before.endswith(":"))


def _find_block_end(lines: list[str], begin: int) -> int:
    """Returns the end of the block, which may contain empty lines."""
    end = begin
    for i in range(begin, len(lines)):
        if lines[i].strip() and not _is_indented(lines[i]):
            break
        if lines[i].strip():
            end = i + 1
    return end


def _make_block(lines: list[str]) -> Iterator[str]:
    code = textwrap.dedent("\n".join(lines))
    yield ""
    yield f".. code-block:: {'python' if _is_python(code) else 'text'}"
    yield ""
    yield from textwrap.indent(code, "   ").splitlines()
    yield ""


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def _escape(text: str) -> str:
    """Makes `code` literal, and escapes other characters that have a meaning."""
    parts = re.split(r"`([^`]+)`", text)
    for i, part in enumerate(parts):
        parts[i] = f"``{part}``" if i % 2 else _SPECIAL.sub(r"\\\g<0>", part)
    return "".join(parts)
