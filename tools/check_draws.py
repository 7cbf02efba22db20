#!/usr/bin/env python3
"""Fails if C++ code draws two random numbers in an order that each compiler chooses.

    check_draws.py [SOURCE_ROOT...]

Compilers evaluate the arguments of a call, and the operands of operators such as + and ==, in different
orders. A test that draws in two of them solves other problems with gcc than with clang. Values in
braces, the operands of `&&`, `||`, `?:`, `,`, `<<`, `>>` and of assignments have an order in C++17.

A draw is a call of a random engine, a call that gets an engine as an argument, and a call of a function,
member function or lambda that draws from an engine that is neither its own nor its parameter. A call
that gets such a lambda is a draw too: Eigen may call it while it evaluates the expression. An object
with such member functions counts as an engine. The check knows the functions and classes of the file,
of the headers under the roots that the file includes, and of the source files of these headers. It does
not see draws in macros, through other function objects, and from engines that are declared with `auto`.

Prints file:line for every full expression with such draws; exit code 1 if there is one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cpp_definitions import Source, find_variables, read_source
from cpp_tokens import Node, find_lambda_body, is_lambda, walk

ENGINES = frozenset(
    [
        "mt19937",
        "mt19937_64",
        "default_random_engine",
        "minstd_rand",
        "minstd_rand0",
        "ranlux24",
        "ranlux48",
        "knuth_b",
    ]
)
# Binary operators, those that bind least first, and whether C++17 orders their operands.
OPERATORS = (
    (",", True),  # except between arguments
    ("= += -= *= /= %= &= |= ^= <<= >>= ? :", True),
    ("||", True),
    ("&&", True),
    ("|", False),
    ("^", False),
    ("&", False),
    ("== !=", False),
    ("< > <= >=", False),
    ("<=>", False),
    ("<< >>", True),
    ("+ -", False),
    ("* / %", False),
)
_RANK = {text: rank for rank, (texts, _) in enumerate(OPERATORS) for text in texts.split()}
_CONTROLS = ("if", "constexpr", "for", "while", "switch")
# Names after which parentheses hold no arguments.
_NO_CALL = (*_CONTROLS, "return", "throw", "case", "else", "do", "sizeof", "decltype", "noexcept")

Engines = frozenset[str]  # names of variables
NO_ENGINES: Engines = frozenset()


@dataclass
class Draw:
    text: str  # for messages
    line: int
    engines: Engines


@dataclass
class Found:
    """What a group or an expression contains."""

    draws: list[Draw] = field(default_factory=list)  # without those in blocks and lambdas
    passed: Engines = NO_ENGINES  # engines that it names, so that a call around it draws
    drawn: Engines = NO_ENGINES  # engines of all draws
    fault: tuple[Draw, Draw] | None = None  # the first pair without an order

    def add(self, part: Found) -> None:
        self.draws += part.draws
        self.passed |= part.passed
        self.drawn |= part.drawn
        self.fault = self.fault or part.fault


class Program:
    """All files under the roots, and which of their functions draw."""

    def __init__(self, roots: list[Path]) -> None:
        self.roots = [root.resolve() for root in roots]
        paths = sorted(
            p for root in self.roots for p in root.rglob("*") if p.suffix in (".cpp", ".hpp")
        )
        self.sources: dict[Path, Source] = {}
        for path in paths:
            try:
                self.sources[path] = read_source(path)
            except ValueError as e:
                raise ValueError(f"{path}:{e}") from None
        # Engines that the function of a class, or of none, draws from: file -> (class, name) -> engines.
        self.drawing: dict[Path, dict[tuple[str, str], Engines]] = {path: {} for path in paths}

    def find_faults(self) -> list[str]:
        """Returns `file:line: fault` for all files."""
        visible = {path: self._find_visible(path) for path in self.sources}
        while True:  # until no further function is known to draw
            before = {path: dict(drawing) for path, drawing in self.drawing.items()}
            checkers = [_Checker(self, path, visible[path]) for path in self.sources]
            faults = [fault for checker in checkers for fault in checker.check()]
            if before == self.drawing:
                return faults

    def _find_visible(self, path: Path) -> list[Source]:
        """Returns the file, the headers that it includes, and the source files of these headers."""
        found = [path]
        for at in found:  # grows
            for include in self.sources[at].includes:
                candidates = [folder / include for folder in (at.parent, *self.roots)]
                header = next((c for c in candidates if c in self.sources), None)
                if header and header not in found:
                    found.append(header)
        companions = (header.with_suffix(".cpp") for header in found)
        found += [c for c in companions if c in self.sources and c not in found]
        return [self.sources[p] for p in found]


class _Checker:
    """Checks one file with what is known of the others, and notes which of its functions draw."""

    def __init__(self, program: Program, path: Path, visible: list[Source]) -> None:
        self.source = program.sources[path]
        self.own_drawing = program.drawing[path]
        self.faults: list[str] = []
        self.bases: dict[str, set[str]] = {}
        self.drawing: dict[tuple[str, str], Engines] = {}
        self.engine_types = set(ENGINES)
        for other in visible:
            self.bases |= other.bases
            self.engine_types |= {name for name, kind in other.aliases.items() if kind in ENGINES}
            is_known = other is self.source or other.path.suffix == ".hpp"
            for (owner, name), engines in program.drawing[other.path].items():
                if owner or is_known:  # other functions of a source file are its own
                    self.drawing[owner, name] = engines
        self.types = self.engine_types | {owner for owner, _ in self.drawing}
        self.variables: dict[str, str] = {}  # engine -> type
        self.separate: set[str] = set()  # engines that share no state with one of another name
        for other in visible:
            for group in other.groups:
                if other is self.source or id(group) in other.owners:
                    self._add_variables(group)

    def _add_variables(self, group: Node) -> None:
        for variable in find_variables(group, self.types):
            self.variables[variable.name] = variable.type
            if variable.is_value and variable.type in self.engine_types:
                self.separate.add(variable.name)

    def check(self) -> list[str]:
        if self.variables or self.drawing:
            self._check_group(self.source.tree, "", {}, has_arguments=False)
        return self.faults

    def _check_group(
        self, group: Node, owner: str, lambdas: dict[str, Engines], has_arguments: bool
    ) -> Found:
        """Checks a group in the body of a class, with the lambdas that are known there."""
        owner = self.source.owners.get(id(group), owner)
        if group.is_block:
            lambdas = dict(lambdas)
        found = Found()
        for place in _list_expressions(group):
            part = self._check_expression(group.items, place, owner, lambdas, has_arguments)
            if group.is_block:  # its full expressions end here
                self._report(part.fault)
                part = Found(drawn=part.drawn)
            found.add(part)
        if found.drawn and id(group) in self.source.functions:
            name, parameters = self.source.functions[id(group)]
            engines = found.drawn - self._find_own(parameters, group)
            if engines:
                key = (owner, name)
                self.own_drawing[key] = self.own_drawing.get(key, NO_ENGINES) | engines
        return found

    def _check_expression(
        self,
        items: list[Node],
        place: range,
        owner: str,
        lambdas: dict[str, Engines],
        has_arguments: bool,
    ) -> Found:
        """Checks an expression or a statement. `has_arguments`: it stands in a list of arguments."""
        found = Found()
        placed: list[tuple[int, Draw]] = []  # draws and their indices in items
        body = -1  # of the last lambda

        def place_draw(i: int, text: str, engines: Engines) -> None:
            if engines:
                placed.append((i, Draw(text, items[i].line, engines)))

        for i in place:
            item = items[i]
            if i <= body:
                continue
            if is_lambda(items, i) and find_lambda_body(items, i) > 0:
                body = find_lambda_body(items, i)
                engines = self._check_lambda(items, i, body, owner, lambdas)
                found.drawn |= engines
                if _is_called(items, body):
                    place_draw(i, "a lambda", engines)
                elif i > 1 and items[i - 1].text == "=":
                    lambdas[items[i - 2].text] = engines
                else:
                    found.passed |= engines
            elif item.is_group():
                part = self._check_group(item, owner, lambdas, _has_arguments(items, i))
                draws, passed = part.draws, part.passed
                part.draws, part.passed = [], NO_ENGINES
                found.add(part)
                placed += [(i, draw) for draw in draws]
                if item.text == "{" or _has_arguments(items, i) or _is_called(items, i):
                    place_draw(i, _name_call(items, i, passed), passed)
                elif item.text == "(":
                    found.passed |= passed
            elif item.kind == "name":
                place_draw(i, _name_call(items, i), self._find_called(items, i, owner, lambdas))
                found.passed |= self._find_passed(items, i, lambdas)
        found.draws = [draw for _, draw in placed]
        found.drawn = found.drawn.union(*(draw.engines for draw in found.draws))
        for k, (j, second) in enumerate(placed):
            for i, first in placed[:k]:
                if self._may_share(first, second) and not _are_sequenced(
                    items, i, j, has_arguments
                ):
                    found.fault = found.fault or (first, second)
        return found

    def _check_lambda(
        self, items: list[Node], i: int, body: int, owner: str, lambdas: dict[str, Engines]
    ) -> Engines:
        """Checks a lambda and returns the engines from which it draws but which it does not own."""
        parameters = next((node for node in items[i:body] if node.is_group("(")), None)
        found = self._check_group(items[body], owner, lambdas, has_arguments=False)
        return found.drawn - self._find_own(parameters, items[body])

    def _find_own(self, parameters: Node | None, body: Node) -> Engines:
        """Returns the engines that a function makes or is given. Each is known where it is called."""
        given = find_variables(parameters, self.types) if parameters else ()
        made = (v for group in walk(body) for v in find_variables(group, self.types))
        return frozenset(
            [v.name for v in given] + [v.name for v in made if v.is_value and not v.is_static]
        )

    def _find_called(
        self, items: list[Node], i: int, owner: str, lambdas: dict[str, Engines]
    ) -> Engines:
        """Returns the engines from which a call draws that begins with the name at i."""
        name, before = items[i].text, items[i - 1].text if i else ""
        if not _is_called(items, i):
            if name in self.variables and i + 3 < len(items) and items[i + 1].text in (".", "->"):
                kind = self.variables[name]
                if kind in self.engine_types or self._look_up(kind, items[i + 2].text):
                    return frozenset({name})
            return NO_ENGINES
        if before in (".", "->"):
            return self._look_up(owner, name) if items[i - 2].text == "this" else NO_ENGINES
        if before == "::":
            return self._look_up(items[i - 2].text, name) | self._look_up("", name)
        if name in lambdas:
            return lambdas[name]
        if self.variables.get(name) in self.engine_types:
            return frozenset({name})
        return self._look_up(owner, name) | self._look_up("", name)

    def _find_passed(self, items: list[Node], i: int, lambdas: dict[str, Engines]) -> Engines:
        """Returns the engines from which a call may draw if the name at i is its argument."""
        name, before = items[i].text, items[i - 1].text if i else ""
        after = items[i + 1].text if i + 1 < len(items) else ""
        if _is_called(items, i) or after in (".", "->", "::") or before == "::":
            return NO_ENGINES
        if name in lambdas:
            return lambdas[name]
        return frozenset({name}) if name in self.variables else NO_ENGINES

    def _look_up(self, owner: str, name: str) -> Engines:
        """Returns the engines from which a function of a class, or of one of its bases, draws."""
        engines = self.drawing.get((owner, name), NO_ENGINES)
        for base in self.bases.get(owner, set()) - {owner}:
            engines |= self._look_up(base, name)
        return engines

    def _may_share(self, first: Draw, second: Draw) -> bool:
        is_separate = first.engines | second.engines <= self.separate
        return not is_separate or bool(first.engines & second.engines)

    def _report(self, fault: tuple[Draw, Draw] | None) -> None:
        if fault:
            first, second = fault
            self.faults.append(
                f"{self.source.path}:{first.line}: {first.text} and {second.text} draw random numbers in "
                "an order that each compiler chooses; draw each number in a statement of its own"
            )


def _list_expressions(group: Node) -> Iterator[range]:
    """Yields the places of the full expressions and statements, which are evaluated in turn."""
    first = 0
    for i, item in enumerate(group.items):
        ends_block = item.is_group("{") and item.is_block and i not in group.lambda_bodies
        ends_control = item.is_group("(") and i > 0 and group.items[i - 1].text in _CONTROLS
        if ends_block or ends_control or item.text in (";", "else", "do"):
            yield range(first, i + 1)
            first = i + 1
    yield range(first, len(group.items))


def _are_sequenced(items: list[Node], i: int, j: int, has_arguments: bool) -> bool:
    """Returns whether the standard orders the evaluation of the items at i and j, where i <= j.

    The operator that binds least between the two decides. Without an operator, they belong to a chain
    such as a(x).b(y), which is evaluated from left to right, or the one at j is an argument.
    """
    operators = [node.text for node in items[i + 1 : j] if node.is_spaced or node.text == ","]
    rank = min((_RANK[text] for text in operators if text in _RANK), default=-1)
    if rank < 0:
        return True
    return OPERATORS[rank][1] and not (rank == _RANK[","] and has_arguments)


def _is_called(items: list[Node], i: int) -> bool:
    """Returns whether the item at i is followed by parentheses."""
    return i + 1 < len(items) and items[i + 1].is_group("(")


def _has_arguments(items: list[Node], i: int) -> bool:
    """Returns whether the group at i has the arguments of a call."""
    if not items[i].is_group("(") or i == 0:
        return False
    before = items[i - 1]
    return before.is_group() or (before.kind == "name" and before.text not in _NO_CALL)


def _name_call(items: list[Node], i: int, passed: Engines = NO_ENGINES) -> str:
    """Returns the text of the call at i for a message: of a name, or of arguments with engines."""
    if not passed:
        is_object = i + 2 < len(items) and items[i + 1].text in (".", "->")
        return "".join(node.text for node in items[i : i + 3 if is_object else i + 1]) + "(...)"
    engines = ", ".join(sorted(passed))
    if not _has_arguments(items, i) and items[i].text == "(":
        return f"{engines}()"  # the parentheses around the engine, as in (*rng)()
    k = i - 1
    while k > 0 and items[k].is_group():
        k -= 1
    return f"{items[k].text if k >= 0 and items[k].kind == 'name' else ''}({engines})"


def main() -> int:
    repository = Path(__file__).resolve().parent.parent
    roots = [Path(argument) for argument in sys.argv[1:]]
    roots = roots or [repository / folder for folder in ("tests", "bench", "examples")]
    for root in roots:
        if not root.is_dir():
            print(f"{root}: no such folder", file=sys.stderr)
            return 2
    try:
        faults = Program(roots).find_faults()
    except ValueError as e:
        print(e, file=sys.stderr)
        return 1
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
