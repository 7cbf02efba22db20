"""`./dev release` sets the version, joins the changelog and tags, in a clone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import stiction

ROOT = Path(__file__).resolve().parents[2]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("the release is made from a git checkout, which this is not")
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-tags", str(ROOT), str(folder))
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@b")
    (folder / ".git" / "info" / "exclude").write_text(".venv\n")
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def release(clone: Path, version: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", clone / "dev", "release", version], capture_output=True, text=True, check=False
    )


def test_release_joins_fragments_sets_the_version_and_tags(clone: Path) -> None:
    (clone / "changelog" / "+thing.feature.md").write_text("`stiction thing` does a thing.\n")
    (clone / "changelog" / "+fault.fix.md").write_text("The fault is gone.\n")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "[x] Add a thing")
    done = release(clone, "7.8.9")
    assert done.returncode == 0, done.stderr
    assert "project(stiction VERSION 7.8.9" in (clone / "CMakeLists.txt").read_text()
    changes = (clone / "CHANGELOG.md").read_text()
    section = changes[changes.index("## 7.8.9 (") :]
    assert section.index("### Added") < section.index("`stiction thing` does a thing.")
    assert section.index("### Fixed") < section.index("The fault is gone.")
    assert not list((clone / "changelog").glob("+*.md"))
    assert git(clone, "log", "-1", "--format=%s") == "[release] Release 7.8.9"
    assert git(clone, "tag", "--points-at", "HEAD") == "v7.8.9"
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("version", "problem"),
    [("7.8", "is not a version"), ("7.8.9", "no fragments"), ("v7.8.9", "is not a version")],
)
def test_wrong_versions_are_refused_with_the_reason(
    clone: Path, version: str, problem: str
) -> None:
    head = git(clone, "rev-parse", "HEAD")
    for fragment in (clone / "changelog").glob("+*.md"):
        fragment.unlink()
    if git(clone, "status", "--porcelain"):
        git(clone, "commit", "-qam", "[x] Remove the fragments")
        head = git(clone, "rev-parse", "HEAD")
    done = release(clone, version)
    assert done.returncode == 1
    assert problem in done.stderr
    assert git(clone, "rev-parse", "HEAD") == head
    assert git(clone, "status", "--porcelain") == ""


def test_uncommitted_changes_are_refused(clone: Path) -> None:
    (clone / "README.md").write_text("changed\n")
    done = release(clone, "7.8.9")
    assert done.returncode == 1
    assert "the working tree has uncommitted changes" in done.stderr


def test_version_of_the_package_is_that_of_the_build() -> None:
    assert (
        f"project(stiction VERSION {stiction.__version__}" in (ROOT / "CMakeLists.txt").read_text()
    )
