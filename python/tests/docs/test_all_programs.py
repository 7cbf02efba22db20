"""Tests that every program on the pages of the documentation runs.

The blocks of Python of a page are one program, which runs in a folder with `scenes` and `examples`. The
blocks of notebooks run when the site is built.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
STICTION = str(Path(sys.executable).parent / "stiction")

# Blocks that do not run, by their page and a text that only they contain, with the reason.
SKIPPED = {("docs/from_drake.md", "pydrake"): "it needs Drake, which is no package of the tests"}
# Packages that a page needs, and that a part of CI has not.
NEEDED = {
    "docs/clients.md": ("gymnasium",),
    "docs/from_gymnasium.md": ("gymnasium", "dm_control"),
    "docs/gym.md": ("gymnasium",),
    "docs/pressure_fields.md": ("scipy",),
    "docs/sweep.md": ("pyarrow",),
    "docs/viewer.md": ("viser", "mjviser"),
}
SWEEP = "scenes: [pinch]\ncontact_models: [lagged]\ntime_steps: [4ms]\nduration: 2.2s\n"
# Files and commands that precede the program of a page.
FILES = {"docs/sweep.md": {"grasp.yaml": SWEEP}}
COMMANDS = {
    "docs/recordings.md": ["run", "scenes/pinch.xml", "--duration", "20ms", "--record", "out.mcap"],
    "docs/sweep.md": ["sweep", "grasp.yaml"],
}


def read_blocks(page: str) -> list[str]:
    """Returns the blocks of Python of a page that run."""
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE
    )
    skipped = [text for name, text in SKIPPED if name == page]
    return [block for block in blocks if not any(text in block for text in skipped)]


ALL_PAGES = [
    str(path.relative_to(ROOT)) for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
]
PAGES = [page for page in ALL_PAGES if read_blocks(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_program_of_a_page_runs(page: str, tmp_path: Path) -> None:
    for package in NEEDED.get(page, ()):
        pytest.importorskip(package, reason="packages of other projects are not installed")
    for name in ("scenes", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name, text in FILES.get(page, {}).items():
        (tmp_path / name).write_text(text)
    if page in COMMANDS:
        run([STICTION, *COMMANDS[page]], tmp_path)
    (tmp_path / "program.py").write_text("\n".join(read_blocks(page)))
    run([sys.executable, "program.py"], tmp_path)


def run(command: list[str], folder: Path) -> None:
    """Runs a command in a folder. It has to succeed."""
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr


def test_pages_have_programs() -> None:
    assert len(PAGES) > 20


@pytest.mark.parametrize(("page", "text"), SKIPPED)
def test_a_block_that_is_skipped_exists(page: str, text: str) -> None:
    assert (
        sum(text in block for block in re.findall(r"```python\n(.*?)```", read(page), re.DOTALL))
        == 1
    )


@pytest.mark.parametrize("page", ALL_PAGES)
def test_python_on_a_page_is_marked_as_python(page: str) -> None:
    """An indented block of Python would not run."""
    assert not re.search(
        r"^    (?:import|from) \w[\w.]* ?(?:import .*)?$", strip_fences(page), re.MULTILINE
    )


def strip_fences(page: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1", "", read(page), flags=re.DOTALL | re.MULTILINE)


def read(page: str) -> str:
    return (ROOT / page).read_text()
