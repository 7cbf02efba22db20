"""The table of a verification for the terminal, and the messages of its failures."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from stiction.analysis.verify.verification import CHECKS, CheckResult, Verification
from stiction.tables.text_table import make_text, make_text_table


def print_verification(result: Verification, console: Console) -> None:
    """Prints the checks, and what the recording lacks."""
    console.print(
        f"{result.recording}: {result.num_steps} steps under {result.contact_model}, verified without "
        "a solver",
    )
    headings = ("check", "steps", "failed", "worst, of what is allowed", "what it says")
    rows: list[tuple[str | Text, ...]] = []
    for name, (meaning, _) in CHECKS.items():
        found = result.checks.get(name)
        if found is None:
            rows.append((make_text(name, "dim"), "-", "-", "-", make_text(meaning, "dim")))
            continue
        worst = f"{found.share:.2g}, step {found.step}" if found.step else "0"
        style = "red" if found.num_failed else ""
        cells = (name, str(found.num_steps), str(found.num_failed), worst, meaning)
        rows.append(tuple(make_text(cell, style) for cell in cells))
    console.print(make_text_table(headings, rows, "lrr"))
    if result.known_dofs < 1 and "momentum" in result.checks:
        console.print(
            f"The balance of momentum covers {100 * result.known_dofs:.0f} % of the dofs.",
        )
    for reason, count in result.unknown.items():
        if count:
            console.print(
                f"Not verified, because the recording has no {reason}: {_count_steps(count)}.",
            )
    if result.num_failed_steps:
        console.print(f"{_count_steps(result.num_failed_steps)} failed in the recorded run.")


def _count_steps(number: int) -> str:
    return f"{number} step" if number == 1 else f"{number} steps"


def describe_failure(name: str, found: CheckResult) -> str:
    """Returns the problem, its place and the remedy of a check that failed."""
    meaning, unit = CHECKS[name]
    where = f" at {found.place}" if found.place else ""
    value = f" by {found.value:.3g} {unit}" if unit else ""
    return (
        f"{name}: step {found.step} violates '{meaning}'{value}{where}, {found.share:.3g} times what is "
        f"allowed; {found.num_failed} of {found.num_steps} steps fail; the recording was altered, or its "
        "solver was wrong: compare with `stiction replay --verify`"
    )
