"""Tests that tools/check_links.py finds broken links, paths, tags and keys, and reports their lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def cite(name: str) -> str:
    """Returns a citation. A citation written out in this file would itself be checked."""
    return f"[{name}]"


def define(tag: str, heading: str = "# Heading") -> str:
    return f"(theory:{tag})=\n{heading}\n"


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_links.py", root],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a page that defines theory:sap, and a bibliography with hertz1882."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    write(tmp_path, "docs/theory/models.md", define("sap"))
    write(tmp_path, "docs/references.bib", "@article{hertz1882,\n  year = {1882},\n}\n")
    return tmp_path


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_this_repository_has_no_fault() -> None:
    result = check(ROOT)
    assert result.stderr == ""
    assert result.returncode == 0


def test_valid_citations_pass_in_every_type_of_file(repository: Path) -> None:
    both = f"{cite('theory:sap')}, {cite('hertz1882')}"
    write(repository, "src/a.hpp", f"/// Source: {both}.\n")
    write(repository, "src/a.cpp", f"// {both}\nx[name1234] = y()[key2020];\n")
    write(repository, "python/a.py", f'"""{both}"""\n')
    write(repository, "docs/a.md", f"({both}) [sap](theory/models.md#sap) [there](https://a.b)\n")
    assert check(repository).stderr == ""


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("src/a.hpp", f"/// {cite('theory:lagged')}", "no section [theory:"),
        ("src/a.cpp", f"// {cite('theory:section 4')}", "no section [theory:"),
        ("python/a.py", f"# {cite('hertz1881')}", "no entry of docs/references.bib ["),
        ("docs/a.md", f"({cite('hunt1975')})", "no entry of docs/references.bib ["),
        ("docs/a.md", "[there](theory/laws.md)", "theory/laws.md is not there"),
        ("docs/a.md", "See `theory/laws.md`.", "theory/laws.md is not in the repository"),
        ("docs/a.md", "`laws/hertz.{hpp,cpp}`", "laws/hertz.cpp is not in the repository"),
        ("docs/a.md", "(`hertz.py`)", "hertz.py is not in the repository"),
        ("docs/a.md", "`docs/*.txt`", "docs/*.txt is not in the repository"),
        ("docs/a.md", define("sap").rstrip(), "theory:sap is defined already"),
        ("docs/a.md", define("tamsi", "Text.").rstrip(), "theory:tamsi must stand right before"),
        ("docs/a.md", define("tamsi", "").rstrip(), "theory:tamsi must stand right before"),
    ],
)
def test_fault_names_file_line_and_what_is_wrong(
    repository: Path, name: str, line: str, fault: str
) -> None:
    path = write(repository, name, f"\n\n{line}\n")
    result = check(repository)
    assert result.returncode == 1
    assert fault in result.stderr
    # If a tag is defined twice, the fault is in the second file by name.
    assert f"{path}:3: " in result.stderr or f"at {path}:3" in result.stderr


def test_paths_in_backticks_start_at_the_root_the_page_or_a_source_folder(repository: Path) -> None:
    write(repository, "src/stiction/laws/hertz.hpp", "")
    write(repository, "src/stiction/laws/hertz.cpp", "")
    write(repository, "python/stiction/evidence/studies/study.py", "")
    paths = (
        "docs/theory/models.md theory/models.md docs/*.bib src/stiction/laws/ laws/hertz.{hpp,cpp}"
    )
    paths += " hertz.hpp studies/registry.py"
    write(repository, "docs/a.md", "".join(f"`{path}`\n" for path in paths.split()))
    assert check(repository).stderr == ""


def test_code_that_is_no_path_of_the_repository_passes(repository: Path) -> None:
    text = "`out/report.html` `N/m` `part.vtk` `tests/<folder>/<file>_test.cpp` `x / y` `--out`\n"
    write(repository, "docs/a.md", text + "```\n`laws/gone.hpp`\n```\n")
    assert check(repository).stderr == ""


def test_a_duplicate_entry_of_the_bibliography_is_a_fault(repository: Path) -> None:
    path = repository / "docs" / "references.bib"
    path.write_text(2 * path.read_text())
    result = check(repository)
    assert result.returncode == 1
    assert f"{path}:4: hertz1882 is defined already, at {path}:1" in result.stderr


def test_files_that_git_ignores_are_not_read(repository: Path) -> None:
    write(repository, ".gitignore", "/out/\n")
    write(repository, "out/a.md", cite("theory:nowhere"))
    assert check(repository).returncode == 0
