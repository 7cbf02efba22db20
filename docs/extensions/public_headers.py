"""Lists the public headers of the C++ libraries, and runs Doxygen on them.

Doxygen parses declarations, but not comments: it would take formulas for Markdown or HTML, and ignore the
comments behind members. Each comment is therefore passed to it as verbatim text.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
INSTALL_LIST = ROOT / "cmake" / "StictionInstall.cmake"

_NAMED_HEADER = re.compile(r"^\s+(stiction/\S+\.hpp)", re.MULTILINE)
_INCLUDE = re.compile(r'^#include "(stiction/.*)"', re.MULTILINE)

_OWN_LINE = re.compile(r"\s*///(?!<) ?(?P<text>.*)")
_BEHIND = re.compile(r"(?P<code>\s*[^\s/}#].*?)\s{2,}// (?P<text>.*)")

_DOXYGEN_OPTIONS = """
QUIET = YES
WARNINGS = NO
WARN_IF_DOC_ERROR = NO
WARN_IF_INCOMPLETE_DOC = NO
RECURSIVE = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
ENABLE_PREPROCESSING = NO
"""


def list_public_headers() -> list[str]:
    """Returns the public headers relative to src.

    The headers that the CMake list names come first. The headers that these include follow.
    """
    headers = _NAMED_HEADER.findall(INSTALL_LIST.read_text())
    for header in headers:  # grows while it is read
        included = _INCLUDE.findall((SOURCES / header).read_text())
        headers += [name for name in dict.fromkeys(included) if name not in headers]
    return headers


def run_doxygen(headers: Mapping[str, str], folder: Path) -> Path:
    """Writes XML of headers below a folder and replaces its content.

    Args:
        headers: the text of each header by its name.
        folder: where to write.

    Returns:
        The folder of the XML files.

    Raises:
        FileNotFoundError: Doxygen is not installed.
        subprocess.CalledProcessError: Doxygen fails.
    """
    shutil.rmtree(folder, ignore_errors=True)
    include = folder / "include"
    for name, text in headers.items():
        copy = include / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(mark_comments(text))
    places = {"INPUT": include, "STRIP_FROM_PATH": include, "OUTPUT_DIRECTORY": folder}
    options = "".join(f'{name} = "{place}"\n' for name, place in places.items())
    subprocess.run(["doxygen", "-"], input=_DOXYGEN_OPTIONS + options, text=True, check=True)
    return folder / "xml"


def mark_comments(text: str) -> str:
    """Marks each comment of a declaration, so that Doxygen copies it verbatim.

    A comment of a declaration is a block of lines with /// above it, or a comment behind it. The latter
    may continue in the lines below.
    """
    return "\n".join(_mark_lines(text.splitlines())) + "\n"


def _mark_lines(lines: list[str]) -> Iterator[str]:
    i = 0
    while i < len(lines):
        if own := _OWN_LINE.fullmatch(lines[i]):
            comment, i = _take_comment(lines, i + 1, own["text"], _OWN_LINE)
            # A comment above a namespace or above includes describes the file.
            is_of_file = i < len(lines) and lines[i].startswith(("namespace ", "#include "))
            yield from _wrap(comment, "/*! @file" if is_of_file else "/*!")
        elif behind := _BEHIND.fullmatch(lines[i]):
            # It continues in lines that have only a comment, in the same column.
            goes_on = re.compile(rf" {{{behind.start('text') - 3}}}// (?P<text>.*)")
            comment, i = _take_comment(lines, i + 1, behind["text"], goes_on)
            # A comment behind an opening brace describes the class or enum that it opens.
            if behind["code"].endswith("{"):
                yield from [*_wrap(comment, "/*!"), behind["code"]]
            else:
                yield from [behind["code"], *_wrap(comment, "/*!<")]
        else:
            yield lines[i]
            i += 1


def _take_comment(
    lines: list[str], i: int, first: str, pattern: re.Pattern[str]
) -> tuple[list[str], int]:
    """Returns the comment's lines, and the index of the line after it."""
    comment = [first]
    while i < len(lines) and (match := pattern.fullmatch(lines[i])):
        comment.append(match["text"])
        i += 1
    return comment, i


def _wrap(comment: list[str], start: str) -> list[str]:
    return [start, "@verbatim", *comment, "@endverbatim */"]
