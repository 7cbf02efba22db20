"""Compares two versions of the code: recordings and studies must be the same, bit for bit.

    old/.venv/bin/python tools/same_results.py make OLD      # in a worktree of the code before
    .venv/bin/python tools/same_results.py make NEW          # in the code after
    .venv/bin/python tools/same_results.py compare OLD NEW

`make` records short runs of many scenes under every contact model and integrator, and runs every
study; it takes half an hour. `compare` reads both folders. The states, contacts, patches and reports
of every step and every number of the studies must agree to the last bit. Messages and times of
computation may differ; texts of studies that differ are listed. `--only TEXT` keeps the cases whose
name contains TEXT.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from result_cases import make_run_cases

from stiction.evidence.studies.study import STUDIES
from stiction.recording import Recording

STICTION = Path(sys.executable).parent / "stiction"

# Keys of numbers that come from a clock, and checks whose value does.
CLOCK_KEYS = re.compile(
    r"/(cpu_seconds|(step|surfaces|solve)_us|us_per_step|solve_us_per_step|times_us"
    r"|(physics|controller|whole)_s|exponents|time_ratios|triangles_over_polygons|triangles_to_polygons)(/|$)"
)
CLOCK_CHECKS = re.compile(r"(ratio|exponent) of .*\btimes?\b")


def make(folder: Path, only: str, jobs: int) -> None:
    """Runs the cases and writes their recordings, figures and exit codes."""
    folder.mkdir(parents=True, exist_ok=True)

    def run(name: str, arguments: list[str | Path]) -> None:
        done = subprocess.run([STICTION, *arguments], capture_output=True, text=True)
        (folder / f"{name}.exit").write_text(f"{done.returncode}\n{done.stderr}")

    cases: dict[str, list[str | Path]] = {
        name: ["run", *arguments, "--json", "--record", folder / f"{name}.mcap"]
        for name, arguments in make_run_cases().items()
    }
    for name in STUDIES:
        cases[f"study_{name}"] = ["study", name, "--out", folder / f"study_{name}"]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda item: run(*item), [c for c in cases.items() if only in c[0]]))


def compare(old: Path, new: Path, only: str) -> int:
    """Prints each case that differs. Returns 1 if there is any, else 0."""
    num_same = num_steps = num_different = 0
    for exit_file in sorted(old.glob("*.exit")):
        name = exit_file.stem
        if only not in name:
            continue
        differences, steps = compare_case(old, new, name)
        num_steps += steps
        num_same += not differences
        num_different += bool(differences)
        for difference in differences[:20]:
            print(f"{name}: {difference}")
    print(f"{num_same} cases are the same ({num_steps} steps), {num_different} differ")
    if num_same + num_different == 0:
        print(f"{old} has no cases whose name contains {only!r}; make them first")
    return int(num_different > 0 or num_same == 0)


def compare_case(old: Path, new: Path, name: str) -> tuple[list[str], int]:
    """Returns the differences of a case, and its number of steps if it is a run."""
    if not (new / f"{name}.exit").exists():
        return ["was not made again"], 0
    before, after = ((folder / f"{name}.exit").read_text() for folder in (old, new))
    if before.split("\n", 1)[0] != after.split("\n", 1)[0]:
        return [f"the exit code was {before[:300]!r}, and is now {after[:300]!r}"], 0
    if name.startswith("study_"):
        file = Path(name) / f"{name.removeprefix('study_')}.json"
        numbers, texts = compare_studies(old / file, new / file)
        for text in texts:
            print(f"{name}: the text {text}")
        return numbers, 0
    if not (old / f"{name}.mcap").exists():
        print(f"{name}: both versions refused to run: {after.splitlines()[-1]}")
        return [], 0
    return compare_recordings(old / f"{name}.mcap", new / f"{name}.mcap")


def compare_recordings(old: Path, new: Path) -> tuple[list[str], int]:
    """Returns the first difference, if there is one, and the number of steps."""
    before, after = (list(Recording(path).all_steps()) for path in (old, new))
    if len(before) != len(after):
        return [f"there were {len(before)} steps, and are now {len(after)}"], len(after)
    for a, b in zip(before, after, strict=True):
        where = f"step {a.index}: "
        if a.state.tobytes() != b.state.tobytes() or a.completed != b.completed:
            return [where + "the state differs"], len(after)
        if a.contacts.tobytes() != b.contacts.tobytes():
            return [where + "the contacts differ"], len(after)
        if repr(a.patches) != repr(b.patches):
            return [where + "the patches differ"], len(after)
        for key, value in a.report.items():
            if key != "message" and value != b.report.get(key):
                return [where + f"{key} was {value!r}, is {b.report.get(key)!r}"], len(after)
    return [], len(after)


def compare_studies(old: Path, new: Path) -> tuple[list[str], list[str]]:
    """Returns the numbers that differ, and the texts that differ."""
    before, after = (json.loads(path.read_text()) for path in (old, new))
    for a, b in zip(before["checks"], after["checks"], strict=False):
        if CLOCK_CHECKS.search(b["name"]):
            a["value"] = b["value"]
            a["passed"] = b["passed"]
    old_leaves, new_leaves = list(find_leaves(before)), list(find_leaves(after))
    numbers, texts = [], []
    if len(old_leaves) != len(new_leaves):
        numbers.append(f"there were {len(old_leaves)} entries, and are now {len(new_leaves)}")
    for (path, a), (new_path, b) in zip(old_leaves, new_leaves, strict=False):
        change = f"{path} was {a!r}, is {b!r}"
        if isinstance(a, str) or isinstance(b, str):
            if a != b:
                texts.append(change)
        elif repr(a) != repr(b):
            numbers.append(change)
        elif path != new_path:
            texts.append(f"{path} is now {new_path}")
    return numbers, texts


def find_leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the path and value of every entry of a JSON document that is not a container.

    It leaves out numbers that come from a clock.
    """
    if CLOCK_KEYS.search(path):
        return
    if isinstance(value, dict):
        for key, part in value.items():
            yield from find_leaves(part, f"{path}/{key}")
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from find_leaves(part, f"{path}[{i}]")
    else:
        yield path, value


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=["make", "compare"])
    parser.add_argument("folders", nargs="+", type=Path, help="make: one folder; compare: two")
    parser.add_argument("--only", default="", help="keep the cases whose name contains this text")
    parser.add_argument("--jobs", type=int, default=2, help="number of cases that run side by side")
    arguments = parser.parse_args()
    if len(arguments.folders) != (1 if arguments.action == "make" else 2):
        parser.error("make takes one folder, compare takes two")
    if arguments.action == "make":
        make(arguments.folders[0], arguments.only, arguments.jobs)
        return 0
    return compare(*arguments.folders, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
