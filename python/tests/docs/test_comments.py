"""Tests that comments and docstrings are converted to reStructuredText."""

from __future__ import annotations

import textwrap

from plain_text import convert_comment, convert_docstring
from public_headers import mark_comments


def tidy(text: str) -> list[str]:
    """Returns the lines that are not empty."""
    return [line for line in text.splitlines() if line.strip()]


def test_special_characters_stand_for_themselves() -> None:
    assert tidy(convert_docstring("Bound on |v - v*|_A of x_ [m].")) == [
        r"Bound on \|v - v\*\|_A of x\_ [m]."
    ]


def test_backticks_are_code() -> None:
    assert tidy(convert_comment("Calls `a_b(*c)` twice.")) == ["Calls ``a_b(*c)`` twice."]


def test_an_indented_block_is_code_of_its_language() -> None:
    formula = "The cost is\n\n    |v|_A <= 2 c,\n\nand so on."
    assert tidy(convert_comment(formula)) == [
        "The cost is",
        ".. code-block:: text",
        "   |v|_A <= 2 c,",
        "and so on.",
    ]
    example = "An example:\n    sim.step(data)  # once"
    assert ".. code-block:: python" in convert_docstring(example)


def test_a_hanging_line_is_part_of_its_paragraph() -> None:
    assert tidy(convert_docstring("One\n    and two.")) == ["One", "and two."]


def test_sections_become_fields() -> None:
    text = """\
        Solves.

        Args:
            Q, r: of
                the problem.
            **options: more.

        Returns:
            A dict: x.

        Raises:
            Error: a shape; or no solver.
        """
    assert tidy(convert_docstring(textwrap.dedent(text))) == [
        "Solves.",
        ":param Q: of the problem.",
        ":param r: of the problem.",
        r":param \*\*options: more.",
        ":returns: A dict: x.",
        ":raises Error: a shape; or no solver.",
    ]


def test_attributes_become_a_list() -> None:
    text = "A row.\n\nAttributes:\n    a, b: both\n        [m].\n    c: one.\n"
    assert tidy(convert_docstring(text)) == [
        "A row.",
        ":Attributes:",
        "   - **a, b** -- both [m].",
        "   - **c** -- one.",
    ]


def test_commands_become_fields() -> None:
    text = "Adds. @return its\nindex\n@param dt  time step [s]\n@throws std::bad_alloc; always"
    assert tidy(convert_comment(text)) == [
        "Adds.",
        ":returns: its index",
        ":param dt: time step [s]",
        ":throws std::bad_alloc: always",
    ]


def test_a_list_keeps_its_items() -> None:
    assert tidy(convert_docstring("Kinds:\n- one\n  of them\n- two")) == [
        "Kinds:",
        "- one",
        "  of them",
        "- two",
    ]


def test_comments_above_and_behind_declarations_are_marked() -> None:
    header = """\
        /// Of the file.
        namespace a {
        /// A row,
        /// with two lines.
        struct Row {
          int first = 0;  // into columns,
                          // or -1
          double bound;   // [N s]
          // Not a comment of a member.
        };
        }  // namespace a
        """
    assert tidy(mark_comments(textwrap.dedent(header))) == [
        "/*! @file",
        "@verbatim",
        "Of the file.",
        "@endverbatim */",
        "namespace a {",
        "/*!",
        "@verbatim",
        "A row,",
        "with two lines.",
        "@endverbatim */",
        "struct Row {",
        "  int first = 0;",
        "/*!<",
        "@verbatim",
        "into columns,",
        "or -1",
        "@endverbatim */",
        "  double bound;",
        "/*!<",
        "@verbatim",
        "[N s]",
        "@endverbatim */",
        "  // Not a comment of a member.",
        "};",
        "}  // namespace a",
    ]


def test_a_comment_behind_a_brace_is_about_what_it_opens() -> None:
    marked = tidy(mark_comments("struct Timings {  // wall time [us]\n};\n"))
    assert marked == [
        "/*!",
        "@verbatim",
        "wall time [us]",
        "@endverbatim */",
        "struct Timings {",
        "};",
    ]


def test_a_comment_above_includes_is_about_the_file() -> None:
    marked = tidy(
        mark_comments('/// Meshes of all shapes.\n#include "stiction/geometry/box.hpp"\n')
    )
    assert marked == [
        "/*! @file",
        "@verbatim",
        "Meshes of all shapes.",
        "@endverbatim */",
        '#include "stiction/geometry/box.hpp"',
    ]
