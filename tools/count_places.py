#!/usr/bin/env python3
"""Fails if adding a thing touches more files than it should, or if the thing then does not work.

    count_places.py [--no-build] [--keep FOLDER]

Adds a dummy normal law, option, convex contact model and study to a copy of the repository, each by
its recipe in CONTRIBUTING.md, and counts the files that each touches with git. Then builds the copy
and proves that all four work; see recipes/prove.py. The build is not optimized and takes a few
minutes, and less the next time because of ccache.

--no-build only counts. --keep works in FOLDER in place of a temporary folder, and keeps it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECIPES = ROOT / "tools" / "recipes"


@dataclass(frozen=True)
class Edit:
    """A text to insert in a file, before or after a text that occurs there exactly once."""

    path: str
    text: str
    before: str = ""
    after: str = ""

    def apply(self, root: Path) -> None:
        """Edits the file below a folder. Exits if the place is not found, or found twice."""
        path = root / self.path
        content = path.read_text()
        place = self.before or self.after
        if content.count(place) != 1:
            sys.exit(f"{self.path}: {place!r} occurs {content.count(place)} times, must occur once")
        text = self.text + place if self.before else place + self.text
        path.write_text(content.replace(place, text))


@dataclass(frozen=True)
class Recipe:
    """How to add a thing.

    thing: what is added.
    limit: the largest number of files that it may touch, without tests.
    files: new files, by path, with the file in tools/recipes that they are copied from, or "".
    edits: edits of files.
    """

    thing: str
    limit: int
    files: dict[str, str]
    edits: tuple[Edit, ...]

    def apply(self, root: Path) -> None:
        """Adds the thing to the copy of the repository in a folder."""
        for path, source in self.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text((RECIPES / source).read_text() if source else "")
        for edit in self.edits:
            edit.apply(root)


CONTACT, LAWS = "src/stiction/contact", "src/stiction/laws"
FORMULATIONS = "src/stiction/formulations"

LAW = Recipe(
    thing="normal law",
    limit=3,
    files={f"{LAWS}/dummy_law.hpp": "dummy_law.hpp"},
    edits=(
        Edit(f"{CONTACT}/normal_laws.hpp", "dummy_law, ", before="custom };"),
        Edit(
            f"{CONTACT}/normal_laws.hpp",
            """    // f = k x_+
    {.law = NormalLawKind::dummy_law,
     .name = "dummy_law",
     .uses = {.stiffness = true},
     .force = [](const ContactLawData<double>&, double f_e, double,
                 double) { return positive_part(f_e); }},
""",
            before="    // The caller's law gives its force and its reach itself",
        ),
        Edit(
            f"{LAWS}/chosen_law.hpp",
            '#include "stiction/laws/dummy_law.hpp"\n',
            after='#include "stiction/laws/barrier.hpp"\n',
        ),
        Edit(f"{LAWS}/chosen_law.hpp", "DummyLaw<T>, ", before="Custom<T>>;"),
        Edit(
            "tests/laws/normal_laws_test.cpp",
            '#include "stiction/laws/dummy_law.hpp"\n',
            after='#include "stiction/laws/barrier.hpp"\n',
        ),
        Edit(
            "tests/laws/normal_laws_test.cpp",
            """TEST(NormalLaws, DummyIsASpring) {
  EXPECT_DOUBLE_EQ((DummyLaw<double>{1e-3, 1e5, 20}.calc_impulse(-0.1).n), 1e-3 * 30);
  EXPECT_EQ((DummyLaw<double>{1e-3, 1e5, 20}.calc_impulse(1).n), 0);
}

""",
            before="TEST(NormalLaws, BarrierIsInfiniteOutsideItsDomain)",
        ),
    ),
)

OPTION = Recipe(
    thing="option",
    limit=2,
    files={},
    edits=(
        Edit(
            f"{CONTACT}/model_parameters.hpp",
            "  /// In [0, 1] [-].\n  double dummy_option = 0.5;\n",
            after="  bool drop_separating = true;\n",
        ),
        Edit(
            "src/stiction/sim/options/option_table.cpp",
            """    {.name = "dummy_option",
     .member = member<kParameters, &ModelParameters::dummy_option>(),
     .range = {.high = 1},
     .is_used = has<&ContactModelTraits::takes_laws>,
     .help = "The dummy."},
""",
            before='    {.name = "on_failure",',
        ),
    ),
)

MODEL = Recipe(
    thing="convex contact model",
    limit=4,
    files={f"{FORMULATIONS}/convex/dummy_model.hpp": "dummy_model.hpp"},
    edits=(
        Edit(f"{CONTACT}/contact_model.hpp", "  dummy_model,\n", before="  mujoco\n};"),
        Edit(
            f"{CONTACT}/contact_model.hpp",
            """    {.model = ContactModel::dummy_model,
     .name = "dummy_model",
     .has_error_bound = true,
     .takes_laws = true,
     .uses_friction = false},
""",
            before="    {.model = ContactModel::mujoco,",
        ),
        Edit(
            f"{FORMULATIONS}/make_contact_solver.cpp",
            '#include "stiction/formulations/convex/dummy_model.hpp"\n',
            after='#include "stiction/formulations/convex/coulomb.hpp"\n',
        ),
        Edit(
            f"{FORMULATIONS}/make_contact_solver.cpp",
            "    case ContactModel::dummy_model:\n"
            "      return make_solver<SolverWithLaws<DummyModelWith>>();\n",
            before="    case ContactModel::no_slip:",
        ),
        Edit(
            "src/stiction/certificate/reference_laws.cpp",
            """    case ContactModel::dummy_model: {
      const double n = calc_normal_impulse(parameters, c, dt, v_c[2]);
      return {.gamma = {0, 0, n}, .normal_bound = n};
    }
""",
            before="    case ContactModel::no_slip:",
        ),
    ),
)

STUDY = Recipe(
    thing="study",
    limit=2,
    files={
        "python/stiction/studies/dummy_study/__init__.py": "",
        "python/stiction/studies/dummy_study/study.py": "dummy_study.py",
    },
    edits=(),
)

RECIPE_LIST = (LAW, OPTION, MODEL, STUDY)


def git(folder: Path, *arguments: str) -> str:
    """Runs git in a folder and returns what it prints."""
    command = ["git", "-c", "user.name=count", "-c", "user.email=count@localhost", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def copy_repository(folder: Path) -> None:
    """Copies the files that git lists here, with changes that are not committed, and commits."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Before")


def count_files(folder: Path, recipe: Recipe) -> tuple[list[str], list[str]]:
    """Applies a recipe and commits. Returns the files that it touched, and the tests among them."""
    recipe.apply(folder)
    git(folder, "add", "-A")
    touched = git(folder, "diff", "--cached", "--name-only").split()
    git(folder, "commit", "-qm", f"Add a {recipe.thing}")
    tests = [name for name in touched if name.startswith(("tests/", "python/tests/"))]
    return [name for name in touched if name not in tests], tests


def count_all(folder: Path) -> bool:
    """Adds everything and prints the files. Returns true if no recipe is over its limit."""
    copy_repository(folder)
    is_within = True
    for recipe in RECIPE_LIST:
        touched, tests = count_files(folder, recipe)
        is_within &= len(touched) <= recipe.limit
        verdict = "ok" if len(touched) <= recipe.limit else "TOO MANY"
        print(f"{recipe.thing}: {len(touched)} files of at most {recipe.limit}: {verdict}")
        for name in touched:
            print(f"  {name}")
        for name in tests:
            print(f"  {name} (test)")
    return is_within


def build_and_prove(folder: Path) -> None:
    """Builds the module and the tests of laws in the copy, and runs the proofs."""
    build = folder / "build"
    environment = {**os.environ, "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}

    def run(*command: str | Path) -> None:
        subprocess.run(command, cwd=folder, env=environment, check=True)

    run(
        "cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Plain",
        "-DSTICTION_BUILD_PYTHON=ON", "-DSTICTION_BUILD_TESTS=ON", "-DSTICTION_WERROR=ON",
        f"-DPython_EXECUTABLE={sys.executable}", "--log-level=WARNING",
    )  # fmt: skip
    run("cmake", "--build", build, "--target", "_core", "laws_test")
    run(build / "tests" / "laws_test", "--gtest_filter=NormalLaws.*", "--gtest_brief=1")
    package = folder / "python" / "stiction"
    for module in (build / "python").glob("_core*.so"):
        shutil.copy2(module, package)
    environment["PYTHONPATH"] = str(package.parent)
    run(sys.executable, RECIPES / "prove.py", package)


def main() -> int:
    """Returns 1 if a recipe touches too many files; exits with an error if a proof fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--no-build", action="store_true", help="only count")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in FOLDER, keep it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        is_within = count_all(folder)
        if not arguments.no_build:
            build_and_prove(folder)
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
