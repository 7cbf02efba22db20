"""Lines with pip work with pip 23.0.1, which Debian 12 has."""

from __future__ import annotations

import contextlib
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("docs", "python", "tests", "tools", "cmake", ".github", "requirements")
# pip knows `-C` since 23.1, and `--config-settings` since 22.1.
NEW_OPTION = re.compile(r"(?<![\w-])-C[ =]?(cmake\.|build-dir)|pip[^\n`\"']* -C ")


def read_texts() -> dict[str, str]:
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "dev"]
    for folder in FOLDERS:
        files += [
            p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts
        ]
    texts = {}
    for path in files:
        if path == Path(__file__):
            continue
        with contextlib.suppress(UnicodeDecodeError):  # a picture
            texts[str(path.relative_to(ROOT))] = path.read_text()
    return texts


def test_no_line_has_an_option_that_debians_pip_lacks() -> None:
    texts = read_texts()
    assert len(texts) > 300
    found = [name for name, text in texts.items() if NEW_OPTION.search(text)]
    assert found == []


def test_the_pattern_finds_the_option() -> None:
    assert NEW_OPTION.search("pip install . -C cmake.define.STICTION_ARCH=native")
    assert NEW_OPTION.search('"-C cmake.define.A=ON stiction"')
    assert not NEW_OPTION.search("pip install . --config-settings=cmake.define.A=ON")


def test_the_page_of_the_installation_names_every_extra_for_users() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    named = re.findall(
        r"^\| `stiction\[(\w+)\]`", (ROOT / "docs/installation.md").read_text(), re.MULTILINE
    )
    for_developers = {"test", "lint", "docs"}
    former_names = {"replay"}
    assert sorted(named) == sorted(extras.keys() - for_developers - former_names)
