"""Checks a release wheel for Linux: what it links, what it contains, and its licenses.

    check_wheel.py WHEEL LIBRARY_SOURCES

Prints one line per fault, and fails if there are any.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from email.parser import BytesParser
from pathlib import Path

MAX_BYTES = 15_000_000
# Symbols that a module may ask the loader for besides MuJoCo, which python/LinkAnyMuJoCo.cmake describes.
NEEDED = re.compile(r"lib(c|m|pthread|gcc_s)\.so\.\d+|ld-linux-[a-z0-9-]+\.so\.\d+")
# Symbols without a version come from Python and MuJoCo, or may be missing.
UNVERSIONED = re.compile(r"_?Py[A-Z_]\w*|_?mj\w+")
# The code that a wheel contains, with the license in the folder of its sources.
LICENSES = {
    "amd.txt": "suitesparse/AMD/Doc/License.txt",
    "daqp.txt": "daqp/LICENSE",
    "eigen.txt": "eigen/COPYING.MPL2",
    "libstdc++.txt": None,
    "nanobind.txt": None,
    "robin-map.txt": None,
    "tinyxml2.txt": "tinyxml2/LICENSE.txt",
    "yaml-cpp.txt": "yaml-cpp/LICENSE",
}


def find_faults(wheel: Path, sources: Path) -> list[str]:
    """Returns the faults of a wheel."""
    faults = []
    if wheel.stat().st_size > MAX_BYTES:
        faults.append(f"has {wheel.stat().st_size} bytes, at most {MAX_BYTES} are allowed")
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        faults += find_missing_licenses(Path(folder), sources)
        for module in sorted(Path(folder).glob("stiction/*.so")):
            faults += [f"{module.name} {fault}" for fault in find_link_faults(module)]
        if any(Path(folder).glob("*.libs")):
            faults.append(
                "contains libraries that auditwheel added, but all must be linked statically"
            )
    return faults


def find_missing_licenses(folder: Path, sources: Path) -> list[str]:
    """Returns the licenses that are missing, or are not those of the sources."""
    info = next(folder.glob("*.dist-info"))
    metadata = BytesParser().parsebytes((info / "METADATA").read_bytes())
    named = set(metadata.get_all("License-File") or ())
    faults = []
    for name, source in {"LICENSE": None, **LICENSES}.items():
        path = name if name == "LICENSE" else f"licenses/{name}"
        file = info / "licenses" / path
        if path not in named or not file.is_file():
            faults.append(f"lacks the license {path}")
        elif source and file.read_bytes() != (sources / source).read_bytes():
            faults.append(f"has a license {path} that is not {source}; copy that to {path}")
    return faults


def find_link_faults(module: Path) -> list[str]:
    """Returns libraries that a module must not need, and symbols that no library may have."""
    dynamic = run("readelf", "-W", "-d", module)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    link = re.fullmatch(r"libmujoco_(.*)\.so", module.name)
    own = f"libmujoco.so.{link[1]}" if link else "libstiction_mujoco.so"
    faults = [f"needs {name}" for name in needed if name != own and not NEEDED.fullmatch(name)]
    if "RPATH" in dynamic or "RUNPATH" in dynamic:
        faults.append("has a run path")
    for line in run("readelf", "-W", "--dyn-syms", module).splitlines():
        match = re.search(r" GLOBAL +DEFAULT +UND (\S+)$", line)
        if match and "@" not in match[1] and not UNVERSIONED.fullmatch(match[1]):
            faults.append(f"uses {match[1]}, which no old glibc has; define it in src/old_glibc.c")
    return faults


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    wheel, sources = map(Path, sys.argv[1:])
    faults = find_faults(wheel, sources)
    for fault in faults:
        print(f"{wheel.name}: {fault}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
