"""Checks laws of physics on random worlds under every contact model.

    ./dev laws                    # 1000 worlds from seed 0, as far as build/laws does not have them
    ./dev laws 100000 5000        # 100,000 worlds from seed 5000
    ./dev laws 1 77 --model sap   # one world under one model

The program tests/campaign/laws_main.cpp checks a chunk of worlds in a process of its own. Finished
chunks are kept in build/laws until the program is built anew, so that an interrupted campaign goes
on where it stopped. The command fails if a law was broken.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "release" / "tests" / "laws_campaign"
FOLDER = ROOT / "build" / "laws"
CHUNK = 100  # worlds in a process
SECONDS = 1200  # after which a chunk counts as hung


def run_chunk(first: int, count: int, model: str, folder: Path) -> dict[str, Any]:
    """Returns the counts and violations of a chunk, from its file if it has been run before."""
    file = folder / f"{first}-{count}-{model or 'all'}.json"
    if file.exists():
        return dict(json.loads(file.read_text()))
    start = time.monotonic()
    command = [str(PROGRAM), str(first), str(count), *([model] if model else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        death = "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr[-500:]}"
        lines = done.stdout.splitlines()
    except subprocess.TimeoutExpired:
        death, lines = f"did not end within {SECONDS} s", []
    if death:
        return {"first": first, "count": count, "death": death, "counts": {}, "violations": []}
    *violations, counts = [json.loads(line) for line in lines]
    result: dict[str, Any] = {"first": first, "count": count, "seconds": time.monotonic() - start}
    result |= {"violations": violations, **counts}
    part = file.with_suffix(".part")
    part.write_text(json.dumps(result))
    part.rename(file)
    return result


def print_summary(chunks: list[dict[str, Any]]) -> int:
    """Prints counts and violations. Returns the number of violations and dead chunks."""
    counts: Counter[str] = Counter()
    violations, deaths = [], []
    for chunk in chunks:
        counts.update(chunk["counts"])
        violations += chunk["violations"]
        if "death" in chunk:
            deaths.append(chunk)
    for name, number in sorted(counts.items()):
        print(f"{number:12,} {name}")
    for v in violations:
        kind = "SILENT" if v["silent"] else "with a warning"
        print(
            f"{v['law']}: {v['value']:.3g}, allowed {v['allowed']:.3g}, in step {v['step']} ({kind})"
            f"  ./dev laws 1 {v['seed']} --model {v['model']}"
        )
    for chunk in deaths:
        print(f"./dev laws {chunk['count']} {chunk['first']}: {chunk['death']}")
    seconds = sum(chunk.get("seconds", 0) for chunk in chunks)
    worlds = counts["worlds"]
    silent = sum(v["silent"] for v in violations)
    print(
        f"{worlds} worlds in {seconds:.0f} s of processes; {len(violations)} violations, "
        f"{silent} of them silent; {len(deaths)} chunks died"
    )
    return len(violations) + len(deaths)


def main() -> int:
    """Runs the command line. Returns 1 if a law was broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("number", nargs="?", type=int, default=1000, help="number of worlds")
    parser.add_argument("seed", nargs="?", type=int, default=0, help="seed of the first world")
    parser.add_argument("--model", default="", help="the only contact model; default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if not PROGRAM.exists():
        parser.error(f"{PROGRAM} is not built; run ./dev laws")
    key = hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:16]
    folder = FOLDER / key
    folder.mkdir(parents=True, exist_ok=True)
    end = arguments.seed + arguments.number
    starts = range(arguments.seed, end, CHUNK)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        chunks = list(
            pool.map(
                lambda first: run_chunk(first, min(CHUNK, end - first), arguments.model, folder),
                starts,
            )
        )
    return int(print_summary(chunks) > 0)


if __name__ == "__main__":
    sys.exit(main())
