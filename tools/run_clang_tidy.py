#!/usr/bin/env python3
"""Runs clang-tidy on the project's sources that have not passed it since they changed.

BUILD_FOLDER has compile_commands.json. For each file that passed, ~/.cache/stiction/clang-tidy (or the
same folder of XDG_CACHE_HOME) has a file whose name is the hash of the source, all headers, the locked
packages, its command and the checks. All clones of the repository share them.
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
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "bench")  # tests are checked by running them
MAX_AGE = 30 * 24 * 3600  # of a file in the cache [s]


def hash_files(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()


def open_cache() -> Path:
    """Returns the folder of the cache, without files that no run has used for MAX_AGE."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = home / "stiction" / "clang-tidy"
    cache.mkdir(parents=True, exist_ok=True)
    oldest = time.time() - MAX_AGE
    for stamp in cache.iterdir():
        if stamp.stat().st_mtime < oldest:
            stamp.unlink(missing_ok=True)
    return cache


def copy_commands(build: Path, folder: Path) -> None:
    """Writes the build's compile_commands.json to a folder, without the flags that only gcc knows."""
    text = (build / "compile_commands.json").read_text()
    gcc_only = r" -m(move|store)-max=\d+| -mmem(cpy|set)-strategy=\S+"
    (folder / "compile_commands.json").write_text(re.sub(gcc_only, "", text))


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
    commands = ROOT / "build" / "tidy"
    commands.mkdir(parents=True, exist_ok=True)
    copy_commands(build, commands)
    version = subprocess.run(
        ["clang-tidy", "--version"], capture_output=True, text=True, check=True
    ).stdout
    shared = version + hash_files(
        [
            ROOT / ".clang-tidy",
            *sorted((ROOT / "requirements").glob("*.txt")),
            *sorted((ROOT / "src").rglob("*.hpp")),
        ]
    )
    cache = open_cache()

    def find_stamp(path: Path, command: str) -> Path:
        key = shared + command.replace(str(ROOT), "") + hash_files([path])
        return cache / hashlib.sha256(key.encode()).hexdigest()

    stamps = {
        path: find_stamp(path, command)
        for path, command in choose_files(find_files(build), arguments.files).items()
    }
    for stamp in stamps.values():
        if stamp.exists():
            stamp.touch()  # it is in use
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        todo = {
            pool.submit(tidy, commands, path): path
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
