"""Tests that links of the folders' READMEs lead to pages of the documentation."""

from __future__ import annotations

import pytest

pytest.importorskip("sphinx")

from folder_readmes import adapt_links, find_readme

README = find_readme("geometry")


@pytest.mark.parametrize(
    ("link", "adapted"),
    [
        ("[a](../../../docs/step.md#one-step)", "[a](../../step.md#one-step)"),
        ("[a](../../../docs/theory/index.md)", "[a](../../theory/index.md)"),
        ("[a](../formulations/README.md)", "[a](formulations.md)"),
        ("[a](../formulations/rigid/README.md)", "[a](formulations_rigid.md)"),
        ("[a](../contact/islands.hpp)", "a"),
        ("[a](../../../CONTRIBUTING.md)", "a"),
        ("[a](https://mujoco.org/x)", "[a](https://mujoco.org/x)"),
        ("[castro2023] (a)", "[castro2023] (a)"),
    ],
)
def test_a_link_leads_to_a_page_or_is_text(link: str, adapted: str) -> None:
    assert adapt_links(f"See {link}, and go on.", README) == f"See {adapted}, and go on."
