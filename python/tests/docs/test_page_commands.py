"""Tests that commands print what the pages of the documentation show.

An indented block that begins with `$ stiction` has a command and its output. In the output, `...` stands
for any words. Numbers may differ by a little; times are not compared.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Commands that do not run, by their page and first words, with the reason.
SKIPPED = {
    ("docs/command_line.md", "doctor"): "its output describes the machine",
    ("docs/pressure_fields.md", "mesh"): "it needs the extra mesh, which the tests do not install",
}
# Commands whose numbers are not compared, with the reason.
VARYING = {
    ("docs/tools/check.md", "check out.mcap"): "the share of a limit changes with the last bits"
}

HEAVY = """<mujoco><option timestep="0.01"/><worldbody>
  <geom type="plane" size="2 2 .1"/>
  <body name="light" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
  <body name="heavy" pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1" mass="1000"/></body>
</worldbody></mujoco>"""
PADS = """<mujoco><default><geom friction=".7"/></default><worldbody>
  <geom name="floor" type="plane" size="2 2 .1"/>
  <body name="hand" pos="0 0 .2"><freejoint/><geom name="left_pad" size=".01"/></body>
  <body name="gripper" pos="0 0 .4"><freejoint/><geom size=".01"/></body>
  <body name="cube" pos="0 0 .1"><freejoint/><geom name="cube" type="box" size=".02 .02 .02"/></body>
</worldbody></mujoco>"""
# The scenes that a page calls scene.xml.
SCENES = {"docs/tools/check.md": HEAVY, "docs/contact_properties.md": PADS}

# Numbers are printed with two to four digits, and small ones are round-off.
RELATIVE, ABSOLUTE = 0.03, 1e-9
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def find_commands() -> list[tuple[str, list[tuple[str, str]]]]:
    """Returns each block of a page: the page, and its commands with their outputs."""
    found = []
    for path in sorted(ROOT.glob("docs/**/*.md")):
        for block in re.findall(r"(?:^    .*\n)+", path.read_text(), re.MULTILINE):
            parts = re.split(r"^    \$ stiction (.*)\n", block, flags=re.MULTILINE)
            if len(parts) > 1:
                page = str(path.relative_to(ROOT))
                found.append((page, list(zip(parts[1::2], parts[2::2], strict=True))))
    return found


BLOCKS = find_commands()


def find_choice(choices: dict[tuple[str, str], str], page: str, command: str) -> str | None:
    return next(
        (why for (at, first), why in choices.items() if at == page and command.startswith(first)),
        None,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "commands"), BLOCKS, ids=[f"{b[0]}-{b[1][-1][0][:24]}" for b in BLOCKS]
)
def test_commands_print_what_the_page_shows(
    page: str, commands: list[tuple[str, str]], tmp_path: Path
) -> None:
    if why := find_choice(SKIPPED, page, commands[-1][0]):
        pytest.skip(why)
    prepare(page, tmp_path)
    for command, shown in commands:
        result = subprocess.run(
            [Path(sys.executable).parent / "stiction", *shlex.split(command)],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert result.returncode in (0, 1), result.stderr  # 1: `check` has found something
        assert "error:" not in result.stderr
        numbers = find_choice(VARYING, page, command) is None
        compare(split(shown), split(result.stdout), compare_numbers=numbers)


def prepare(page: str, folder: Path) -> None:
    """Makes the files that the commands of a page name."""
    (folder / "scenes").symlink_to(ROOT / "scenes")
    if page in SCENES:
        (folder / "scene.xml").write_text(SCENES[page])
    for text in re.findall(
        r"^```yaml\n(# (\S+)\n.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE
    ):
        (folder / text[1]).write_text(text[0])


def split(output: str) -> list[str]:
    """Returns the words of an output, without those of a last column of times."""
    lines = output.splitlines()
    if "us/step" in output:
        lines = [line if line.split() == ["..."] else re.sub(r"\S+ *$", "", line) for line in lines]
    return " ".join(lines).split()


def compare(shown: list[str], printed: list[str], *, compare_numbers: bool) -> None:
    """Compares the words that a page shows with those that a command prints."""
    at = 0
    for i, run in enumerate(cut(shown)):
        places = range(at, len(printed) - len(run) + 1) if i else [at]
        fits = [place for place in places if matches(run, printed[place:], compare_numbers)]
        assert fits, (
            f"the page shows\n{' '.join(run)}\nand the command prints\n{' '.join(printed[at:])}"
        )
        at = fits[0] + len(run)
    assert shown[-1] == "..." or at == len(printed), f"the page lacks {' '.join(printed[at:])}"


def cut(words: list[str]) -> list[list[str]]:
    """Cuts a list of words at each '...'."""
    runs: list[list[str]] = [[]]
    for word in words:
        if word == "...":
            runs.append([])
        else:
            runs[-1].append(word)
    return runs


def matches(shown: list[str], printed: list[str], compare_numbers: bool) -> bool:
    return all(
        NUMBER.sub("#", a) == NUMBER.sub("#", b) and (not compare_numbers or are_close(a, b))
        for a, b in zip(shown, printed, strict=False)
    )


def are_close(shown: str, printed: str) -> bool:
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(float(b) == pytest.approx(float(a), rel=RELATIVE, abs=ABSOLUTE) for a, b in pairs)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("a 1.00 ... c 3", "a 1.01 b 2 c 3"), ("a 1 ...", "a 1 b 2"), ("a 1", "a 1")],
)
def test_outputs_that_agree_pass(shown: str, printed: str) -> None:
    compare(shown.split(), printed.split(), compare_numbers=True)


@pytest.mark.parametrize("printed", ["a 1.1 c 3", "a 1 c 4", "a 1 c 3 d", "b 1 c 3", "a 1"])
def test_outputs_that_differ_fail(printed: str) -> None:
    with pytest.raises(AssertionError):
        compare(["a", "1.0", "...", "c", "3"], printed.split(), compare_numbers=True)


def test_times_are_left_out() -> None:
    assert split("x cost\n y us/step\nz 3.1\n...\n") == ["x", "y", "z", "..."]


TOOLS = ("tools/artifacts", "tools/check", "tools/converge", "tools/grasp")


def test_pages_have_commands() -> None:
    pages = [page for page, _ in BLOCKS]
    for page in ("compare", "contact_properties", *TOOLS):
        assert f"docs/{page}.md" in pages
    for page, first in (*SKIPPED, *VARYING):
        assert any(
            at == page and command.startswith(first) for at, block in BLOCKS for command, _ in block
        )
