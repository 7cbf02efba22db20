#!/usr/bin/env python3
"""Runs clang-tidy on the project's sources that have not passed it since they changed.

BUILD_FOLDER has compile_commands.json. For each file that passed, build/tidy has a file whose name is
the hash of the source, all headers, its command and the checks.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "bench")  # tests are checked by running them


def hash_files(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()


def copy_commands(build: Path, folder: Path) -> None:
    """Writes the build's compile_commands.json to a folder, without the flags that only gcc knows."""
    text = (build / "compile_commands.json").read_text()
    (folder / "compile_commands.json").write_text(re.sub(r" -m(move|store)-max=\d+", "", text))


def find_files(build: Path) -> dict[Path, str]:
    """Returns the sources of this project that are built there, with their commands."""
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = {Path(c["directory"], c["file"]).resolve(): c["command"] for c in commands}
    folders = [ROOT / f for f in FOLDERS]
    return {p: c for p, c in sources.items() if any(p.is_relative_to(f) for f in folders)}


def choose_files(files: dict[Path, str], names: list[str]) -> dict[Path, str]:
    """Returns the files that were named, all without names; exits if the build has no such file."""
    if not names:
        return files
    chosen = [Path(name).resolve() for name in names]
    if unknown := [str(path) for path in chosen if path not in files]:
        sys.exit(
            f"clang-tidy: {', '.join(unknown)}: not a source of {', '.join(FOLDERS)} that the build"
            " compiles; name .cpp files of these folders, or none to check all"
        )
    return {path: files[path] for path in chosen}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", metavar="BUILD_FOLDER", type=Path)
    parser.add_argument("files", metavar="FILE", nargs="*", help="sources to check; default: all")
    return parser.parse_args()


def tidy(commands: Path, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["clang-tidy", "-p", str(commands), "--quiet", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    arguments = parse_arguments()
    build = arguments.build.resolve()
    passed = ROOT / "build" / "tidy"
    passed.mkdir(parents=True, exist_ok=True)
    copy_commands(build, passed)
    version = subprocess.run(
        ["clang-tidy", "--version"], capture_output=True, text=True, check=True
    ).stdout
    headers = hash_files([ROOT / ".clang-tidy", *sorted((ROOT / "src").rglob("*.hpp"))])
    stamps = {
        path: passed
        / hashlib.sha256((version + headers + command + hash_files([path])).encode()).hexdigest()
        for path, command in choose_files(find_files(build), arguments.files).items()
    }
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        todo = {
            pool.submit(tidy, passed, path): path
            for path, stamp in stamps.items()
            if not stamp.exists()
        }
        for job in concurrent.futures.as_completed(todo):
            result = job.result()
            if result.returncode == 0:
                stamps[todo[job]].touch()
                continue
            failed += 1
            print(result.stdout or result.stderr)
    print(f"clang-tidy: {len(todo)} of {len(stamps)} files checked, {failed} with faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
