"""Tests that notebooks run again under another build of Stiction, and only then."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import build_stamp
import pytest

needs_sphinx = pytest.mark.skipif(
    importlib.util.find_spec("myst_nb") is None, reason="myst-nb is not installed"
)
EXTENSIONS = Path(build_stamp.__file__).parent

CONF = """
import sys
from pathlib import Path
sys.path.insert(0, {extensions!r})
import build_stamp
extensions = ["myst_nb"]
nb_execution_mode = "cache"
nb_execution_cache_path = str(build_stamp.find_notebook_cache(Path({root!r})))
nb_execution_raise_on_error = True
"""
NOTEBOOK = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A notebook

```{{code-cell}} python
from pathlib import Path
if Path({broken!r}).exists():
    raise RuntimeError("the package no longer does this")
with open({log!r}, "a") as file:
    print("run", file=file)
```
"""


def write_stamp(root: Path, text: str) -> Path:
    (root / ".venv").mkdir(exist_ok=True)
    (root / ".venv" / "stiction.stamp").write_text(text)
    return build_stamp.find_notebook_cache(root)


def test_each_build_has_a_cache_of_its_own(tmp_path: Path) -> None:
    assert build_stamp.find_notebook_cache(tmp_path).parent == tmp_path / "build/notebooks"
    first = write_stamp(tmp_path, "first")
    assert write_stamp(tmp_path, "first") == first
    first.mkdir(parents=True)
    second = write_stamp(tmp_path, "second")
    assert second != first
    assert not first.exists()  # it can never be used again


def test_the_site_uses_it() -> None:
    conf = (EXTENSIONS.parent / "conf.py").read_text()
    assert "nb_execution_cache_path = str(build_stamp.find_notebook_cache(ROOT))" in conf


@pytest.mark.slow
@needs_sphinx
def test_a_notebook_that_a_new_build_breaks_fails_the_site(tmp_path: Path) -> None:
    docs, log, broken = tmp_path / "docs", tmp_path / "log", tmp_path / "broken"
    docs.mkdir()
    (docs / "conf.py").write_text(CONF.format(extensions=str(EXTENSIONS), root=str(tmp_path)))
    (docs / "index.md").write_text(NOTEBOOK.format(log=str(log), broken=str(broken)))

    def build() -> int:
        # The kernel of the notebook is found on the path.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-b", "html", docs, tmp_path / "site"],
            env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
        ).returncode  # fmt: skip

    write_stamp(tmp_path, "first")
    assert build() == 0
    assert build() == 0
    assert log.read_text().count("run") == 1
    write_stamp(tmp_path, "second")
    assert build() == 0
    assert log.read_text().count("run") == 2
    broken.touch()
    assert build() == 0  # with the results of this build
    write_stamp(tmp_path, "third")
    assert build() != 0
