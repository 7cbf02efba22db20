#!/usr/bin/env python3
"""Fails if a folder, a file, a function or a class is too large, or if a folder has no README.md.

    check_sizes.py [ROOT]

The limits are below, and EXCEPTIONS has what may exceed them, each with its reason. An exception that
nothing needs any more is a fault too. C++ is read by its layout, which clang-format makes: a block ends
at the first line that closes it with the indentation of the line that opens it.

Prints file:line for every fault; exit code 1 if there is one.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_FILES = 40  # of a folder
MAX_LINES = 450  # of a file
MAX_FUNCTION = 60  # lines, without a docstring
# Members of a class are its data members in C++, and the attributes of its objects and its public methods
# and properties in Python. Static members and constants of a class do not count.
MAX_MEMBERS = 20
# Folders that need a README, which says what they are for.
README_FOLDERS = re.compile(
    r"src/.+|python/(src|tests|stiction(/\w+|/evidence/\w+)?)|tests|tools|bench|scenes|examples"
)
TESTS = ("tests/", "python/tests/")  # their files and functions may be as long as their cases are

# Names of folders, files, functions (file:name) and classes (file:name) that exceed a limit.
EXCEPTIONS: dict[str, str] = {
    "src/stiction/contact/contact_model.hpp:ContactModelTraits": "a row of a table, by columns",
    "src/stiction/contact/contact_problem.hpp:ContactProblem": "the arrays of a problem are its format",
    "src/stiction/numerics/gmres.hpp:solve_gmres": "one published loop, which shares its vectors",
    "src/stiction/numerics/newton.hpp:minimize": "one published loop, which shares its vectors",
    "python/stiction/simulator.py:Simulator": "the package's main class; each public name is documented",
    "python/stiction/recording/recording.py:Recording": "the parts of a file, one property each",
    "python/stiction/runs/run_summary.py:RunSummary": "one sum or maximum for each figure",
    "python/stiction/compare/rows.py:Row": "a row of a table, by columns",
    "python/stiction/evidence/studies/clutter/run.py:ClutterRun": "a row of a table, by columns",
    "python/stiction/evidence/engines/drake_plant.py:DrakePlant": "the parts of Drake that worlds use",
    "python/stiction/view/runner.py:Runner": "what one lock guards",
    # The attributes are the arguments of an environment, whose names Gymnasium gives, and indices.
    "python/stiction/gym/hand_manipulate_block.py:HandManipulateBlock": "arguments and indices",
    "python/stiction/gym/locomotion.py:Locomotion": "arguments and indices",
    "python/stiction/gym/locomotion.py:Humanoid": "arguments and indices",
    "python/stiction/gym/pick_and_hold.py:PickAndHold": "arguments and indices",
    "tools/fuzz_readers.py:rewrite_records": "one case for each kind of record",
}


@dataclass
class Finding:
    name: str  # as in EXCEPTIONS
    line: int
    text: str


def list_files(root: Path) -> list[str]:
    """Returns the files of the repository that git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return sorted(f for f in output.split("\0") if f and (root / f).is_file())


def find_large_folders(files: list[str]) -> Iterator[Finding]:
    for folder, count in Counter(str(Path(file).parent) for file in files).items():
        if count > MAX_FILES:
            yield Finding(folder, 0, f"has {count} files, at most {MAX_FILES} are allowed")


def find_missing_readmes(files: list[str]) -> Iterator[Finding]:
    folders = {str(parent) for file in files for parent in Path(file).parents}
    for folder in sorted(folders):
        if README_FOLDERS.fullmatch(folder) and f"{folder}/README.md" not in files:
            yield Finding(
                folder, 0, "has no README.md, which says what the folder is for; write one"
            )


def find_large_parts(file: str, text: str) -> Iterator[Finding]:
    """Yields the faults of a file of C++ or Python."""
    lines = text.count("\n")
    is_test = file.startswith(TESTS)
    if lines > MAX_LINES and not is_test:
        yield Finding(file, 1, f"has {lines} lines, at most {MAX_LINES} are allowed")
    parts = list_cpp_parts(text) if file.endswith(("pp", ".h")) else list_python_parts(text)
    for name, line, size, limit in parts:
        kind = "lines" if limit == MAX_FUNCTION else "members"
        if size > limit and not (is_test and limit == MAX_FUNCTION):
            fault = f"{name} has {size} {kind}, at most {limit} are allowed"
            yield Finding(f"{file}:{name}", line, fault)


_FUNCTION = re.compile(
    r"([~\w:]+)\((?:[^()]|\([^()]*\))*\)?"
    r"[^;={]*(?:noexcept|override|const|final|try|->[^{]*)?\s*$"
)
_CLASS = re.compile(r"^(?:template <.*>\s*)?(?:class|struct) (?:alignas\(\d+\) )?([\w:]+)[^;()]*$")
_NO_FUNCTION = re.compile(
    r"^(?:if|for|while|switch|else|do|try|catch|return|namespace|enum|union|extern)\b"
    r"|\[[&=\w, ]*\](?:\(|$)|= \[|\(\{?$"  # a lambda is part of its function
)

_CALL = re.compile(r"^[\w\[\]]+(?:->|\.)")


def list_cpp_parts(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Yields name, line, size and limit of each function and class."""
    lines = text.split("\n")
    for start, line in enumerate(lines):
        if not line.endswith("{") or line.lstrip().startswith("//"):
            continue
        head, first = _join_head(lines, start)
        indent = len(lines[first]) - len(lines[first].lstrip())
        end = _find_end(lines, start, " " * indent + "}")
        found = _CLASS.match(head)
        if found:
            yield (
                found[1],
                first + 1,
                count_members(lines[start + 1 : end], indent + 2),
                MAX_MEMBERS,
            )
            continue
        found = _FUNCTION.search(head)
        if found and not _NO_FUNCTION.search(head) and not _CALL.match(head):
            yield found[1], first + 1, end - first + 1, MAX_FUNCTION


def _join_head(lines: list[str], start: int) -> tuple[str, int]:
    """Returns the declaration that ends at a line with a brace, and the index of its first line."""
    first = start
    while first > 0 and lines[first - 1].strip():
        is_open = sum(line.count(")") - line.count("(") for line in lines[first : start + 1]) > 0
        if not is_open and re.search(r"[;{}:]$|^\s*(//|#)", lines[first - 1]):
            break
        first -= 1
    head = " ".join(line.strip() for line in lines[first : start + 1])
    return head.removesuffix("{").strip(), first


def _find_end(lines: list[str], start: int, closing: str) -> int:
    for i in range(start + 1, len(lines)):
        if lines[i].startswith(closing):
            return i
    return len(lines) - 1


_NO_MEMBER = re.compile(
    r"^(?:using|friend|static|typedef|enum|template|class|struct|public|private|protected|explicit|virtual|return|//)\b|^[}\]/#]"
)


def count_members(body: list[str], indent: int) -> int:
    """Returns the number of data members that lines of a class declare, without static ones."""
    return sum(map(_count_declared, _join_declarations(body, indent)))


def _join_declarations(body: list[str], indent: int) -> Iterator[str]:
    """Yields each declaration of data in one line. Bodies of functions and nested classes have none."""
    declaration, is_inside = "", False
    for line in body:
        code = line.split("//")[0].strip()
        if len(line) - len(line.lstrip()) == indent and not (is_inside and code.startswith("}")):
            declaration, is_inside = "", not _NO_MEMBER.match(code)
        if is_inside:
            declaration += f" {code}"
            if code.endswith(";"):
                yield declaration
                is_inside = False


def _count_declared(declaration: str) -> int:
    """Returns the number of variables that a declaration has; 0 if it declares a function."""
    count, depth, is_value, before = 1, 0, False, ""
    for char in declaration:
        if char in "([{" or (char == "<" and before.isalnum()):
            if char == "(" and depth == 0 and not is_value:
                return 0
            is_value = is_value or char == "{"
            depth += 1
        elif char in ")]}" or (char == ">" and depth > 0):
            depth -= 1
        elif depth == 0:
            if char == ",":
                count, is_value = count + 1, False
            is_value = is_value or char == "="
        before = char
    return count


def list_python_parts(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Yields name, line, size and limit of each function and class."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            docstring = (first.end_lineno or 0) - first.lineno + 1 if is_docstring else 0
            yield (
                node.name,
                node.lineno,
                (node.end_lineno or 0) - node.lineno + 1 - docstring,
                MAX_FUNCTION,
            )
        elif isinstance(node, ast.ClassDef):
            yield node.name, node.lineno, len(list_members(node)), MAX_MEMBERS


def list_members(node: ast.ClassDef) -> set[str]:
    """Returns the attributes of objects of a class, and the public methods and properties."""
    names = {n.name for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    names = {name for name in names if not name.startswith("_")}
    for n in ast.walk(node):
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store):
            names |= {n.attr} if isinstance(n.value, ast.Name) and n.value.id == "self" else set()
    for n in node.body:  # fields of dataclasses; constants of the class are not annotated
        if isinstance(n, ast.AnnAssign) and "ClassVar" not in ast.unparse(n.annotation):
            names.add(ast.unparse(n.target))
    return names - {"_"}  # the mark of arguments that are given by name


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
    files = list_files(root)
    findings = [("", finding) for finding in find_large_folders(files)]
    for file in files:
        if file.endswith((".cpp", ".hpp", ".py")):
            text = (root / file).read_text()
            findings += [(file, finding) for finding in find_large_parts(file, text)]
    faults = [f"{each.name}:{each.line}: {each.text}" for each in find_missing_readmes(files)]
    faults += [
        f"{file or finding.name}:{finding.line}: {finding.text}; divide it, or "
        "give it a reason in EXCEPTIONS of tools/check_sizes.py"
        for file, finding in findings
        if finding.name not in EXCEPTIONS
    ]
    needed = {finding.name for _, finding in findings}
    faults += [
        f"tools/check_sizes.py:1: nothing needs the exception '{name}'"
        for name in EXCEPTIONS.keys() - needed
    ]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
