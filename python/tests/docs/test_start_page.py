"""Tests that the program on the start page runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_the_program_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = re.findall(r"```python\n(.*?)```", (ROOT / "docs/index.md").read_text(), re.DOTALL)
    assert len(program) == 1
    monkeypatch.chdir(ROOT)
    exec(program[0], {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("velocities are exact to")
    assert any("left_finger cube" in line for line in printed[1:])
