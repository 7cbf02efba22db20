#!/usr/bin/env python3
"""Makes the replays of the documentation site: pages on which a run with its contacts plays.

Usage: python tools/make_replays.py [--gallery] [NAME...]

It makes those that are missing, or that were made with another build of Stiction or by another command.
Replays of studies are those of quick runs; with --gallery they are those of whole runs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "site_files" / "replays"
_STAMPS = ROOT / "build" / "replay_stamps"  # what made each replay
_BUILD = ROOT / ".venv" / "stiction.stamp"  # changes with each installed build
_CHECK_FAILED = 1  # exit code of a study that wrote its pages, but failed a check


@dataclass(frozen=True)
class Source:
    """The command that makes a replay.

    arguments: arguments of `stiction`.
    is_study: True for a study, which writes its page into a folder, and has a quick run.
    """

    arguments: tuple[str, ...]
    is_study: bool = False


def _view(scene: str, *arguments: str) -> Source:
    return Source(("view", f"scenes/{scene}.xml", *arguments))


def _study(name: str) -> Source:
    return Source(("study", name), is_study=True)


REPLAYS = {
    "start": _view("spatula", "--duration", "6s"),
    "creep": _view("pinch", "--contact-model", "coulomb", "--contact-model", "mujoco"),
    "quadruped": _view("quadruped", "--duration", "2s", "--controls", "random", "--seed", "1"),
    "gripper": _study("gripper"),
    "spatula": _study("spatula"),
    "pancake": _study("pancake"),
    "disk": _study("disk"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(REPLAYS)}")
    parser.add_argument("--gallery", action="store_true", help="replay whole studies")
    chosen = parser.parse_args(arguments)
    for name in chosen.names:
        if name not in REPLAYS:
            parser.error(f"there is no replay '{name}'; there are {', '.join(REPLAYS)}")
    if not _BUILD.exists():
        sys.exit("stiction is not installed in .venv; run ./dev setup")
    FOLDER.mkdir(parents=True, exist_ok=True)
    _STAMPS.mkdir(exist_ok=True)
    for path in FOLDER.glob("*"):
        if path.stem not in REPLAYS:
            path.unlink()
    # The slowest are the last of the table, and begin first.
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        names = chosen.names or list(reversed(REPLAYS))
        faults = list(threads.map(lambda name: _update(name, is_whole=chosen.gallery), names))
    for fault in filter(None, faults):
        print(fault, file=sys.stderr)
    return 1 if any(faults) else 0


def _update(name: str, *, is_whole: bool) -> str | None:
    """Makes a replay if there is none of this build. A whole run also serves for a quick one.

    Returns:
        The fault if the command failed.
    """
    source, stamp = REPLAYS[name], _STAMPS / name
    keys = [_make_key(source, whole) for whole in (True, False)]
    made = stamp.read_text() if stamp.exists() and (FOLDER / f"{name}.html").exists() else ""
    if made in keys[: 1 if is_whole else 2]:
        return None
    start = time.monotonic()
    if fault := _make(FOLDER / f"{name}.html", source, is_whole=is_whole):
        return fault
    stamp.write_text(keys[0 if is_whole else 1])
    print(f"replay of {name}: {time.monotonic() - start:.0f} s", flush=True)
    return None


def _make_key(source: Source, is_whole: bool) -> str:
    whole = is_whole or not source.is_study
    return hashlib.sha256(f"{_BUILD.read_text()} {source} {whole}".encode()).hexdigest()


def _make(page: Path, source: Source, *, is_whole: bool) -> str | None:
    program = Path(sys.executable).parent / "stiction"
    with tempfile.TemporaryDirectory() as folder:
        if source.is_study:
            made = Path(folder) / "replay.html"
            extra = ["--out", folder, *([] if is_whole else ["--quick"])]
        else:
            made = Path(folder) / "page.html"
            extra = ["--html", str(made)]
        command = [str(program), *source.arguments, *extra]
        ended = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "MUJOCO_GL": "disable"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if ended.returncode not in (0, _CHECK_FAILED) or not made.exists():
            return f"{' '.join(command)}\nwrote no page:\n{ended.stdout}{ended.stderr}"
        page.write_bytes(made.read_bytes())
    return None


if __name__ == "__main__":
    sys.exit(main())
