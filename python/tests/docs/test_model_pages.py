"""Tests that each contact model has a page, and that all of these have the same layout."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stiction
from stiction import contact_models
from stiction._core import contact_model_traits

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = {path.stem: path for path in (DOCS / "models").glob("*.md")}
HEADINGS = ["What it is", "Equation", "When to use it", "What it costs", "Artifacts", "Source"]


def read_sections(model: str) -> dict[str, str]:
    _, *parts = re.split(r"^## (.+)$", PAGES[model].read_text(), flags=re.MULTILINE)
    return {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def test_each_model_of_the_table_has_a_page() -> None:
    assert sorted(PAGES) == sorted(stiction.contact_models())


@pytest.mark.parametrize("model", stiction.contact_models())
def test_the_page_of_a_model_has_the_common_layout(model: str) -> None:
    text, sections = PAGES[model].read_text(), read_sections(model)
    assert text.startswith(f"# `{model}`\n")
    assert f"```{{model-traits}} {model}\n```" in text
    assert list(sections) == HEADINGS
    assert all(sections.values())
    assert "$$" in sections["Equation"]
    assert "µs" in sections["What it costs"]  # a measured figure
    assert re.search(r"\[[a-z]+\d{4}\]", sections["Source"])  # a publication


@pytest.mark.parametrize("model", stiction.contact_models())
def test_the_cost_on_the_pinch_scene_is_that_of_its_table(model: str) -> None:
    table = (DOCS / "compare.md").read_text()
    (row,) = re.findall(rf"^ +{model} +([\d.e-]+|dropped) +(\S.*)$", table, re.MULTILINE)
    assert f"{row[1].split()[-1]} µs" in read_sections(model)["What it costs"]


@pytest.mark.parametrize("model", stiction.contact_models())
def test_the_page_of_all_models_leads_to_each(model: str) -> None:
    overview = (DOCS / "contact_models.md").read_text()
    assert f"](models/{model}.md)" in overview
    assert f"\nmodels/{model}\n" in overview


def test_pages_agree_on_the_number_of_contact_models() -> None:
    """'mujoco' is the baseline, and counts as none."""
    count = sum(not contact_model_traits(name).is_mj_step for name in contact_models())
    word = {11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen"}[count]
    number = re.compile(r"\b([a-z]+teen|ten|eleven|twelve|\d+)\s+contact\s+models", re.IGNORECASE)
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md", DOCS.parent / "CHANGELOG.md"]
    pages.remove(DOCS / "studies.md")  # which run under some of them
    found = [
        (path.name, text.lower())
        for path in pages
        for text in number.findall(path.read_text(encoding="utf-8"))
    ]
    assert {"README.md", "index.md", "contact_models.md"} <= {name for name, _ in found}
    assert [each for each in found if each[1] not in (word, str(count))] == []
