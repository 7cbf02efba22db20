"""Tests the directives of the pages: cards and traits of contact models."""

from __future__ import annotations

import pytest

pytest.importorskip("sphinx")

from cards import Cards
from model_traits import list_traits

import stiction
from stiction._core import contact_model_traits


class Source:
    """The part of a page that a directive reads."""

    def __init__(self, text: str) -> None:
        self.content = text.splitlines()

    def error(self, message: str) -> ValueError:
        return ValueError(message)


def test_a_list_of_links_becomes_cards() -> None:
    source = Source("- [A](a.md#x): One\n  line.\n- [B](b.md): ![alt](p.png) Two.")
    lines = "\n".join(Cards._make_cards(source)).splitlines()
    assert [line for line in lines if line] == [
        ":::{grid-item-card} [A](a.md#x)",
        "One line.",
        ":::",
        ":::{grid-item-card} [B](b.md)",
        ":img-top: p.png",
        ":img-alt: alt",
        "Two.",
        ":::",
    ]


def test_a_card_without_a_link_is_an_error() -> None:
    with pytest.raises(ValueError, match="a card must be"):
        list(Cards._make_cards(Source("- [A] no link")))


def test_traits_are_those_of_the_table_of_models() -> None:
    rows = {name: dict(list_traits(name)) for name in stiction.contact_models()}
    assert rows["coulomb"]["wrong by design besides"] == "nothing"
    creeping = {name for name, row in rows.items() if "creeps" in row["what sticks"]}
    assert creeping == {name for name in rows if not contact_model_traits(name).is_rigid}
    assert (
        "elastic" in rows["coulomb"]["what sticks"] and "elastic" not in rows["sap"]["what sticks"]
    )
    assert rows["coulomb"]["kind"] == "compliant; a sequence of convex problems"
    assert "friction bounds" in rows["coulomb"]["bound on the solver's error"]
    assert rows["similar"]["bound on the solver's error"] == "yes"
    assert rows["lagged"]["kind"] == "compliant and convex"
    assert rows["tamsi"]["kind"] == "compliant and implicit"
    assert rows["no_slip"]["contact with pressure fields"] == "in points"
    assert "[`lcp_solver`](#option-lcp-solver)" in rows["no_slip"]["options of its own"]
    assert rows["mujoco"]["kind"] == "MuJoCo's own step"
    # A bar would end the cell of the table.
    assert r"\|v_t\|" in rows["similar"]["wrong by design besides"]
