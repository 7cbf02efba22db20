"""Tests that tools/check_sizes.py finds what is too large, and counts what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def check(root: Path) -> list[str]:
    """Returns the faults that the tool prints for the files of a new repository."""
    subprocess.run(["git", "init", "-q", root], check=True)
    result = subprocess.run(
        [sys.executable, ROOT / "tools" / "check_sizes.py", root],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    faults = [f for f in result.stdout.splitlines() if not f.startswith("tools/check_sizes.py")]
    return [fault.split(";")[0] for fault in faults]


def test_folder_of_too_many_files(tmp_path: Path) -> None:
    for i in range(41):
        (tmp_path / f"{i}.txt").touch()
    assert check(tmp_path) == [".:0: has 41 files, at most 40 are allowed"]
    (tmp_path / "40.txt").unlink()
    assert check(tmp_path) == []


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("double find(int a) {", "find"),
        (
            "template <class T>\nvoid A::add(const T& x,\n            int y = f(2)) const noexcept {",
            "A::add",
        ),
        ("int main() try {", "main"),
    ],
)
def test_function_of_too_many_lines(tmp_path: Path, head: str, name: str) -> None:
    file = tmp_path / "a.cpp"
    lines = head.count("\n") + 2
    loop = "  for (int i = 0; i < 3; ++i) {\n    g(i);\n  }\n"
    file.write_text("int x;\n\n" + head + "\n" + loop + "  f();\n" * (58 - lines) + "}\n")
    assert check(tmp_path) == [f"{file.name}:3: {name} has 61 lines, at most 60 are allowed"]
    file.write_text("int x;\n\n" + head + "\n" + loop + "  f();\n" * (57 - lines) + "}\n")
    assert check(tmp_path) == []


def test_class_of_too_many_members(tmp_path: Path) -> None:
    file = tmp_path / "a.hpp"
    members = "".join(f"  std::vector<int> x{i}_{{1, 2}};  // one\n" for i in range(18))
    rest = (
        "  using T = int;\n  void f(int a, int b);\n"
        "  static constexpr int k = 1;\n  int a = 0, b = 0;\n"
    )
    file.write_text(f"class A final : public B {{\n public:\n{members}{rest}  T c;\n}};\n")
    assert check(tmp_path) == ["a.hpp:1: A has 21 members, at most 20 are allowed"]
    file.write_text(f"class A final : public B {{\n public:\n{members}{rest}}};\n")
    assert check(tmp_path) == []


@pytest.mark.parametrize(
    ("members", "count"),
    [
        ("  std::vector<int> a, b,\n      c;\n", 3),
        ("  std::map<int, int> a{{1, 2}, {3, 4}};\n", 1),
        ("  std::array<int, 2> a = {\n      1,\n      2,\n  };\n  int b;\n", 2),
        ("  std::function<void(int, int)> a;\n  int b = f(1, 2), c = 3;\n", 3),
        ("  int find(int a,\n           int b) const;\n  void f() {\n    int c;\n  }\n", 0),
        (
            "  static constexpr std::array<int, 2> k{1,\n                                       2};\n",
            0,
        ),
        ("  struct Part {\n    int a, b;\n  };\n  Part a;\n", 1),
        ("  int a;  // one, two;\n  // int b;\n  int c[3];\n", 2),
    ],
)
def test_members_of_a_class(tmp_path: Path, members: str, count: int) -> None:
    file = tmp_path / "a.hpp"
    for spare in (20, 21):
        rest = "".join(f"  int x{i};\n" for i in range(spare - count))
        file.write_text(f"struct A {{\n{members}{rest}}};\n")
        fault = "a.hpp:1: A has 21 members, at most 20 are allowed"
        assert check(tmp_path) == ([fault] if spare == 21 else [])


def test_members_of_a_python_class(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    head = "class A:\n    b: int\n    C = 1\n    D: ClassVar[int] = 2\n    _: KW_ONLY\n"
    methods = "    def _f(self):\n        self.b, self.e = 1, 2\n        self.e += other.g\n"
    public = "".join(f"    def f{i}(self):\n        self._x{i} = 1\n" for i in range(9))
    file.write_text(head + methods + public)
    assert check(tmp_path) == []
    file.write_text(head + methods + public + "    @property\n    def h(self): ...\n")
    assert check(tmp_path) == ["a.py:1: A has 21 members, at most 20 are allowed"]


def test_python_function_without_its_docstring(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    docstring = '    """One.\n\n    Two.\n    """\n'
    file.write_text("def f() -> None:\n" + docstring + "    g()\n" * 60)
    assert check(tmp_path) == ["a.py:1: f has 61 lines, at most 60 are allowed"]
    file.write_text("def f() -> None:\n" + docstring + "    g()\n" * 59)
    assert check(tmp_path) == []


def test_file_of_too_many_lines(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "README.md").touch()
    for file in (tmp_path / "a.cpp", tmp_path / "tests" / "a.cpp"):
        file.write_text("int x;\n" * 451)
    assert check(tmp_path) == ["a.cpp:1: has 451 lines, at most 450 are allowed"]


@pytest.mark.parametrize(
    ("folder", "is_needed"),
    [
        ("src/stiction/base", True),
        ("src/stiction/formulations/rigid/cone", True),
        ("python/stiction/runs", True),
        ("python/stiction/evidence/bench", True),
        ("python/stiction/evidence/scorecard/scenes", False),
        ("python/stiction/analysis/verify", False),
        ("tools", True),
        ("tests/base", False),
        ("docs/images", False),
    ],
)
def test_folder_without_a_readme(tmp_path: Path, folder: str, is_needed: bool) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "a.txt").touch()
    fault = f"{folder}:0: has no README.md, which says what the folder is for"
    assert (fault in check(tmp_path)) == is_needed
    (tmp_path / folder / "README.md").touch()
    assert fault not in check(tmp_path)
