"""Tests that tools/check_draws.py finds random numbers that are drawn in no fixed order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A class that draws, a lambda that draws, engines and distributions. The faults are in line 15.
FILE = """\
#include <random>
class Dice {
 public:
  explicit Dice(int seed) : rng_(seed) {}
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }
  double position() { return pick(2) == 0 ? 1.5 : -0.1; }

 private:
  std::mt19937 rng_;
};
Vector make(int size, std::mt19937_64* rng) { return {size, static_cast<double>((*rng)())}; }
void test(std::mt19937_64* rng, Dice* dice) {
  std::uniform_real_distribution<double> unit;
  const auto draw = [&] { return unit(*rng); };
  STATEMENT
}
"""


def check(*roots: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_draws.py", *roots],
        capture_output=True,
        text=True,
        check=False,
    )


def check_statement(folder: Path, statement: str) -> subprocess.CompletedProcess[str]:
    (folder / "a.cpp").write_text(FILE.replace("STATEMENT", statement))
    return check(folder)


def test_this_repository_draws_in_a_fixed_order() -> None:
    result = check()
    assert result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("statement", "first", "second"),
    [
        ("const Vector v(unit(*rng), unit(*rng), 0);", "unit(rng)", "unit(rng)"),
        ("add(unit(*rng) > 0.5 ? 1 : 2, (*rng)());", "unit(rng)", "rng()"),
        ("add(make(3, rng), make(4, rng));", "make(rng)", "make(rng)"),
        ("const auto x = make(3, rng) * 2 + make(4, rng);", "make(rng)", "make(rng)"),
        ("const bool is_less = (*rng)() < (*rng)();", "rng()", "rng()"),
        ("return -unit(*rng) == -draw();", "unit(rng)", "draw(...)"),
        ("add(draw(), draw());", "draw(...)", "draw(...)"),
        ("add(Matrix::NullaryExpr(2, 2, draw) + draw());", "NullaryExpr(rng)", "draw(...)"),
        ("const auto x = fill([&] { return draw(); }) * draw();", "fill(rng)", "draw(...)"),
        ("add(dice->pick(4) > 0 ? kA : kB, dice->position(), &x);", "dice->pick", "dice->position"),
        ("const double x = 2 * throw_two(dice) / dice->pick(2);", "throw_two(dice)", "dice->pick"),
        ("std::snprintf(text, 9, kForm, 60 * unit(*rng), 60 * unit(*rng));", "unit", "unit"),
        ("if (unit(*rng) + unit(*rng) < 1) return;", "unit(rng)", "unit(rng)"),
        ("for (int i = f(draw(), draw()); i < 3; ++i) g(i);", "draw(...)", "draw(...)"),
        ("add([&] { return draw() - draw(); });", "draw(...)", "draw(...)"),
        ("const double x[] = {1, draw() * draw()};", "draw(...)", "draw(...)"),
        (
            "x = static_cast<int>(draw()) + std::array<int, 2>{1, 2}[pick(*rng)];",
            "draw",
            "pick(rng)",
        ),
        ('text += R"(a "(" b)" + to_text(draw()) + to_text(draw());', "draw(...)", "draw(...)"),
        ("add(draw(), /* ) */ draw());  // one more (", "draw(...)", "draw(...)"),
    ],
)
def test_draws_without_an_order_are_found(
    tmp_path: Path, statement: str, first: str, second: str
) -> None:
    result = check_statement(tmp_path, statement)
    assert result.returncode == 1
    (fault,) = result.stderr.splitlines()
    assert fault.startswith(f"{tmp_path / 'a.cpp'}:15: {first}")
    assert f" and {second}" in fault
    assert "draw each number in a statement of its own" in fault


@pytest.mark.parametrize(
    "statement",
    [
        "const double x = draw(), y = draw();",
        "const Vector v{unit(*rng), 2 * unit(*rng), draw()};",
        "const Pair p = {.first = draw(), .second = draw()};",
        "return {make(3, rng), make(4, rng)};",
        "const bool both = draw() < 0.5 && draw() < 0.5 || draw() < 0.1;",
        "const double x = draw() < 0.5 ? draw() + 1 : 2 * draw();",
        "draw(), draw();",
        "for (draw(), draw(); false;) f();",
        "matrix << draw(), draw(), draw();",
        "stream << draw() << std::vector<int>{1, 2}[pick(*rng)];",
        "x[pick(*rng)] = draw();",
        "x[pick(*rng)] += 2 * draw();",
        "add(make(pick(*rng), rng));",
        "make(3, rng).add(draw());",
        "std::uniform_real_distribution<double>(0, draw())(*rng);",
        "if (draw() < 0.5) f(1 + draw());",
        "for (int i = 0; i < 3 * pick(*rng); ++i) f(2 * draw());",
        "for (double& value : x) { value = draw(); }\n  y = 1 + draw();",
        "f(draw(), [&] { return draw(); });",
        "x = 1 + draw();\n  y = 2 + draw();",
        "EXPECT_EQ(Dice(3).pick(4) + Dice(3).pick(5), 7);",
        "std::mt19937 a(1), b(1);\n  EXPECT_EQ(unit(a), unit(b));",
        "EXPECT_EQ(dice->size(), dice->pick(4));",
        '// add(draw(), draw());\n  f("draw() + draw()");',
    ],
)
def test_draws_with_an_order_are_allowed(tmp_path: Path, statement: str) -> None:
    result = check_statement(tmp_path, statement)
    assert result.stderr == ""
    assert result.returncode == 0


def write_dice(folder: Path) -> None:
    (folder / "support").mkdir()
    (folder / "support" / "dice.hpp").write_text(
        "using Engine = std::mt19937_64;\n"
        "class Dice {\n public:\n  double any();\n  double size() const;\n\n private:\n"
        "  Engine rng_;\n};\n"
    )
    (folder / "support" / "dice.cpp").write_text(
        '#include "support/dice.hpp"\n'
        "double Dice::any() { return static_cast<double>(rng_()); }\n"
        "double Dice::size() const { return 6; }\n"
    )


def test_functions_of_included_headers_and_bases_are_known(tmp_path: Path) -> None:
    write_dice(tmp_path)
    lines = (
        '#include "support/dice.hpp"',
        "class Fixture : public testing::Test, public Dice {",
        " protected:",
        "  double twice() { return 2 * any(); }",
        "  double once() { return size() + any(); }",
        "};",
        "TEST_F(Fixture, Sums) { EXPECT_GT(twice() + any(), 0); }",
        "void add(Dice* dice, Engine* rng) { dice->add(dice->any(), dice->size()); }",
        "void sum(Dice* dice, Engine* rng) { dice->add(dice->any(), f(rng)); }",
    )
    (tmp_path / "a.cpp").write_text("\n".join(lines) + "\n")
    result = check(tmp_path)
    first, second = result.stderr.splitlines()
    assert first.startswith(f"{tmp_path / 'a.cpp'}:7: twice(...) and any(...)")
    assert second.startswith(f"{tmp_path / 'a.cpp'}:9: dice->any(...) and f(rng)")


def test_functions_of_other_files_are_unknown(tmp_path: Path) -> None:
    write_dice(tmp_path)
    (tmp_path / "a.cpp").write_text("double f(Dice* any) { return any->any() + any->any(); }\n")
    assert check(tmp_path).returncode == 0


def test_a_bracket_that_is_not_closed_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int a;\nint f() {\n")
    result = check(tmp_path)
    assert result.returncode == 1
    assert result.stderr == f"{tmp_path / 'a.cpp'}:2: '{{' is not closed\n"
