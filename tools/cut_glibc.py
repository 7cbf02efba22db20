"""Writes libraries to link with, which have only those symbols of this machine's glibc that are old.

    cut_glibc.py VERSION FOLDER [COMPILER]

A program that is linked with a new glibc asks for the newest version of each symbol, such as
exp@GLIBC_2.29, and does not start on systems with an older glibc. glibc keeps the older versions of its
symbols. The linker takes them from the libraries that this program writes, which are empty but for the
names: for each symbol the newest version that is not above VERSION. A symbol that is newer as a whole is
left out, so it stays undefined, and tools/check_wheel.py finds it.

The libraries serve the linker only. Values do not change, because all versions of a function of libm
share one kernel; they differ in how they report errors.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# The name that gcc passes to the linker, and the library.
LIBRARIES = {"c": "libc.so.6", "m": "libm.so.6", "ld": "ld-linux-x86-64.so.2"}
MERGED = (2, 34)  # the version of glibc whose libc took over libpthread
SYMBOL = re.compile(r" (?:FUNC|IFUNC|OBJECT) +(?:GLOBAL|WEAK) .* (\w+)@@?GLIBC_([\d.]+)$")

Version = tuple[int, ...]


def find_path(library: str, compiler: str) -> str:
    """Returns the path of a library that the compiler knows."""
    command = [compiler, f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def read_symbols(path: str) -> dict[str, set[Version]]:
    """Returns the versions of each symbol that a library defines."""
    command = ["readelf", "-W", "--dyn-syms", path]
    symbols = defaultdict(set)
    for line in subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines():
        if (match := SYMBOL.search(line)) and " UND " not in line:
            symbols[match[1]].add(parse_version(match[2]))
    return symbols


def parse_version(text: str) -> Version:
    return tuple(int(number) for number in text.split("."))


def choose_versions(symbols: dict[str, set[Version]], limit: Version) -> dict[str, Version]:
    """Returns the newest version of each symbol that is not above the limit."""
    old = {name: [v for v in versions if v <= limit] for name, versions in symbols.items()}
    return {name: max(versions) for name, versions in old.items() if versions}


def write_library(path: Path, soname: str, symbols: dict[str, Version], compiler: str) -> None:
    """Compiles a library with the symbols."""
    names = defaultdict(list)
    for name, version in symbols.items():
        names[".".join(map(str, version))].append(name)
    source, script = path.with_suffix(".s"), path.with_suffix(".map")
    with source.open("w") as file:
        file.write('.section .note.GNU-stack,"",%progbits\n.text\n')
        for version, group in sorted(names.items()):
            for name in sorted(group):
                file.write(f".globl s_{name}\n.type s_{name},%function\ns_{name}: nop\n")
                file.write(f".symver s_{name},{name}@@@GLIBC_{version}\n")
    script.write_text("".join(f"GLIBC_{version} {{ }};\n" for version in sorted(names)))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}"]
    subprocess.run([compiler, *options, "-o", path, source], check=True)


def write_libraries(limit: Version, folder: Path, compiler: str) -> None:
    """Writes the libraries, and the linker script libc.so that names them as glibc's own does."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, soname in LIBRARIES.items():
        symbols = read_symbols(find_path(soname, compiler))
        merged = {s for s, versions in symbols.items() if MERGED in versions}
        old = choose_versions(symbols, limit)
        own = {s: v for s, v in old.items() if s not in merged}
        write_library(folder / f"lib{name}.so.old", soname, own, compiler)
        if name == "c" and limit < MERGED:
            threads = {s: v for s, v in old.items() if s in merged and s.startswith("pthread_")}
            write_library(folder / "libpthread.so", "libpthread.so.0", threads, compiler)
    (folder / "libm.so").write_text("INPUT ( libm.so.old )\n")
    static = find_path("libc_nonshared.a", compiler)
    (folder / "libc.so").write_text(
        f"GROUP ( libc.so.old {static} AS_NEEDED ( libpthread.so libld.so.old ) )\n"
    )


def main() -> None:
    version, folder, compiler = [*sys.argv[1:], "cc"][:3]
    write_libraries(parse_version(version), Path(folder), compiler)


if __name__ == "__main__":
    main()
