"""Tests that the declarations of C++ headers are read unchanged."""

from __future__ import annotations

import pytest
from declarations import Declaration, Header, read_headers
from public_headers import run_doxygen

# ./dev test --all installs doxygen, and ./dev test does not.
pytestmark = pytest.mark.slow

HEADER = """\
#pragma once

/// About the file, [theory:sap].
namespace stiction::a {

/// Adds | and *.
/// @param x  a number < 1 [m]
[[nodiscard]] double calc_sum(double x, const Point& y = {}) noexcept;

enum class Kind {
  soft,  // it gives way,
         // slowly
  hard,
};

/// A law.
template <class L>
concept Law = requires(const L& law) {
  { law.calc(1) } noexcept -> std::same_as<double>;
};

/// What holds.
class Holder final : public Base {
 public:
  explicit Holder(int size);
  ~Holder();
  Holder(Holder&&) noexcept;
  Holder& operator=(Holder&&) noexcept;
  double bound = 0, other;  // [N s]
  Options options = {.first = 1, .second = 2};
  /// Inside.
  struct Part {
    int index = -1;
  };
  static constexpr int kMax = 3;
  virtual bool is_held() const = 0;

 private:
  int hidden_;
};

using Pair = std::array<double, 2>;

}  // namespace stiction::a
"""


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> Header:
    xml = run_doxygen({"stiction/a/b.hpp": HEADER}, tmp_path_factory.mktemp("doxygen"))
    headers = read_headers(xml)
    assert list(headers) == ["stiction/a/b.hpp"]
    return headers["stiction/a/b.hpp"]


def find(declarations: list[Declaration], name: str) -> Declaration:
    (found,) = (each for each in declarations if name in each.signatures[0])
    return found


def test_the_comment_of_the_file_is_that_above_its_namespace(header: Header) -> None:
    assert header.namespace == "stiction::a"
    assert header.comment == "About the file, [theory:sap]."


def test_declarations_keep_their_order(header: Header) -> None:
    assert [each.kind for each in header.declarations] == [
        "function",
        "enum-class",
        "concept",
        "class",
        "type",
    ]


def test_comments_are_read_word_for_word(header: Header) -> None:
    comment = find(header.declarations, "calc_sum").comment
    assert comment == "Adds | and *.\n@param x  a number < 1 [m]"


def test_a_function_has_its_whole_signature(header: Header) -> None:
    (signature,) = find(header.declarations, "calc_sum").signatures
    assert signature == "double calc_sum(double x, const Point &y={}) noexcept"


def test_values_of_an_enumeration_have_the_comments_behind_them(header: Header) -> None:
    kind = find(header.declarations, "Kind")
    assert [(value.signatures, value.comment) for value in kind.members] == [
        (["soft"], "it gives way,\nslowly"),
        (["hard"], ""),
    ]


def test_a_concept_shows_what_it_requires(header: Header) -> None:
    law = find(header.declarations, "Law")
    assert law.signatures == ["template <class L> Law"]
    assert law.comment.startswith("A law.\n\n    requires(const L& law) {")


def test_a_class_shows_its_public_members_without_copies_and_moves(header: Header) -> None:
    holder = find(header.declarations, "Holder")
    assert holder.signatures[0] == "Holder final : public Base"
    assert [member.signatures[0] for member in holder.members] == [
        "explicit Holder(int size)",
        "double bound = 0",
        "double other",
        "Options options = {.first = 1, .second = 2}",
        "Part",
        "static constexpr int kMax = 3",
        "virtual bool is_held() const =0",
    ]


def test_declarations_that_sphinx_cannot_parse_have_a_shorter_form(header: Header) -> None:
    holder = find(header.declarations, "Holder")
    assert find(holder.members, "options").signatures[-1] == "Options options"


def test_a_nested_class_has_members_of_its_own(header: Header) -> None:
    part = find(find(header.declarations, "Holder").members, "Part")
    assert (part.comment, part.members[0].signatures[0]) == ("Inside.", "int index = -1")


def test_an_alias_names_its_type(header: Header) -> None:
    assert find(header.declarations, "Pair").signatures == ["Pair = std::array< double, 2 >"]
