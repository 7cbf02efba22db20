"""`./dev release` sets the version, joins the changelog and tags, in a clone. `./dev` checks names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

import stiction

ROOT = Path(__file__).resolve().parents[3]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_workflow_publishes_only_what_was_tried_and_pinned() -> None:
    path = ROOT / ".github" / "workflows" / "release.yml"
    if not path.exists():
        pytest.skip("the workflow is only in a git checkout")
    jobs = yaml.safe_load(path.read_text())["jobs"]
    steps = {name: job["steps"] for name, job in jobs.items()}
    for step in (step for of_job in steps.values() for step in of_job):
        assert re.fullmatch(r"\S+@[0-9a-f]{40}", step.get("uses", f"a@{40 * '0'}"))
        installs = re.findall(r"pip install.*", step.get("run", ""))
        assert all("--require-hashes" in line for line in installs), installs
    may_fail = {name for name, job in jobs.items() if "continue-on-error" in job}
    uploads = {
        step["with"]["name"]: name
        for name, of_job in steps.items()
        for step in of_job
        if "upload-artifact" in step.get("uses", "")
    }
    taken = [s["with"] for s in steps["publish"] if "download-artifact" in s.get("uses", "")]
    assert may_fail == {"others"}
    assert [uploads[each["name"]] for each in taken] == ["linux-x86_64"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("the release is made from a git checkout, which this is not")
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-tags", str(ROOT), str(folder))
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@b")
    (folder / ".git" / "info" / "exclude").write_text(".venv\ntried\n")
    try_in_place_of_try_fresh(folder, "touch tried")
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def try_in_place_of_try_fresh(clone: Path, command: str) -> None:
    """Replaces the proof on a new machine, which takes minutes, by a command."""
    (clone / "tools" / "try_fresh").write_text(f"#!/bin/sh\n{command}\n")
    git(clone, "commit", "-qam", "[x] Try nothing")


def test_release_needs_the_proof_on_a_new_machine(clone: Path) -> None:
    add_fragment(clone)
    try_in_place_of_try_fresh(clone, "exit 1")
    done = release(clone, "7.8.9")
    assert done.returncode == 1
    assert "try-fresh failed" in done.stderr
    assert git(clone, "status", "--porcelain") == "" and git(clone, "tag") == ""
    try_in_place_of_try_fresh(clone, "touch tried")
    assert release(clone, "7.8.9").returncode == 0
    assert (clone / "tried").exists()


def release(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", clone / "dev", "release", *arguments], capture_output=True, text=True, check=False
    )


def add_fragment(clone: Path) -> None:
    (clone / "changelog" / "+thing.feature.md").write_text("`stiction thing` does a thing.\n")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "[x] Add a thing")


def test_release_joins_fragments_sets_the_version_and_tags(clone: Path) -> None:
    (clone / "changelog" / "+thing.feature.md").write_text("`stiction thing` does a thing.\n")
    (clone / "changelog" / "+fault.fix.md").write_text("The fault is gone.\n")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "[x] Add a thing")
    done = release(clone, "7.8.9")
    assert done.returncode == 0, done.stderr
    assert "project(stiction VERSION 7.8.9" in (clone / "CMakeLists.txt").read_text()
    assert "version: 7.8.9" in (clone / "CITATION.cff").read_text().splitlines()
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


@pytest.mark.parametrize("version", ["7.8.9", "7.8.10", "7.7.11"])
def test_a_version_that_is_not_higher_than_the_newest_tag_is_refused(
    clone: Path, version: str
) -> None:
    add_fragment(clone)
    git(clone, "tag", "v7.8.9")
    git(clone, "tag", "v7.8.10")
    done = release(clone, version)
    assert done.returncode == 1
    assert f"version {version} is not higher than the newest tag v7.8.10" in done.stderr


def test_a_higher_version_than_the_newest_tag_is_released(clone: Path) -> None:
    add_fragment(clone)
    git(clone, "tag", "v7.8.9")
    done = release(clone, "7.8.10")
    assert done.returncode == 0, done.stderr
    assert git(clone, "tag", "--points-at", "HEAD") == "v7.8.10"


def test_fragments_beside_a_written_section_are_refused(clone: Path) -> None:
    changes = clone / "CHANGELOG.md"
    changes.write_text(changes.read_text() + "\n## 7.8.9 (unreleased)\n\nA thing.\n")
    add_fragment(clone)
    head = git(clone, "rev-parse", "HEAD")
    done = release(clone, "7.8.9")
    assert done.returncode == 1
    assert "the section '## 7.8.9 (unreleased)'" in done.stderr
    assert "changelog/+thing.feature.md" in done.stderr
    assert "; move the fragments into the section" in done.stderr
    assert git(clone, "rev-parse", "HEAD") == head
    assert git(clone, "status", "--porcelain") == ""


def test_a_written_section_is_released_without_fragments(clone: Path) -> None:
    for fragment in (clone / "changelog").glob("+*.md"):
        fragment.unlink()
    changes = clone / "CHANGELOG.md"
    changes.write_text(changes.read_text() + "\n## 7.8.9 (unreleased)\n\nA thing.\n")
    git(clone, "commit", "-qam", "[x] Write the section")
    done = release(clone, "7.8.9")
    assert done.returncode == 0, done.stderr
    assert "## 7.8.9 (unreleased)" not in changes.read_text()
    assert "\n## 7.8.9 (2" in changes.read_text()


def test_more_than_one_argument_is_refused(clone: Path) -> None:
    add_fragment(clone)
    done = release(clone, "7.8.9", "--dry-run")
    assert done.returncode == 1
    assert "release takes one version, but has the arguments: 7.8.9 --dry-run" in done.stderr


def test_an_unknown_preset_is_refused(clone: Path) -> None:
    done = subprocess.run(
        ["bash", clone / "dev", "cpp", "nosuch"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "dev: there is no preset 'nosuch' for C++ tests; name release, dev, tsan or quick\n"
    )


def test_version_of_the_package_is_that_of_the_build() -> None:
    assert (
        f"project(stiction VERSION {stiction.__version__}" in (ROOT / "CMakeLists.txt").read_text()
    )
    assert f"version: {stiction.__version__}" in (ROOT / "CITATION.cff").read_text().splitlines()
