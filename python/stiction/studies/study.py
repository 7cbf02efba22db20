"""What a study is given and what it gives: figures, checks, plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stiction.errors import Error
from stiction.plain_json import make_plain
from stiction.studies.checks import Check

if TYPE_CHECKING:
    from matplotlib.figure import Figure  # which takes a while to load

_DPI = 120


@dataclass(frozen=True)
class Settings:
    """quick: fewer and larger steps, fewer models; the checks are as strict.
    contact_models: those to study, by name.
    peers: folder of other programs' trajectories; None: compared with none.
    tell: told in words what is run next.
    """

    quick: bool
    contact_models: tuple[str, ...]
    peers: Path | None = None
    tell: Callable[[str], None] = lambda text: None

    def pick(self, *names: str) -> list[str]:
        """Of some models those that are studied."""
        return [name for name in self.contact_models if name in names]


@dataclass
class StudyResult:
    """figures: what was measured, fit for JSON. plots: by file name without its suffix.
    pages: HTML, likewise. notes: what was left out, and why.
    """

    figures: dict[str, Any] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    plots: dict[str, Figure] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


@dataclass(frozen=True)
class Study:
    """A study, as registry.py lists it.

    name: as on the command line.
    title: one line.
    run: runs the experiments and checks what they show.
    plots: names of the plots that a quick run draws; a whole run draws these and may draw others.
    contact_models: studied unless others are asked for; None: all whose surfaces give way.
    """

    name: str
    title: str
    run: Callable[[Settings], StudyResult]
    plots: tuple[str, ...]
    contact_models: tuple[str, ...] | None = None


def describe_result(study: Study, settings: Settings, result: StudyResult) -> dict[str, Any]:
    """All of a result but its plots, fit for JSON."""
    described: dict[str, Any] = make_plain(
        {
            "study": study.name,
            "title": study.title,
            "quick": settings.quick,
            "contact_models": list(settings.contact_models),
            "passed": result.passed,
            "checks": [asdict(check) for check in result.checks],
            "figures": result.figures,
            "notes": result.notes,
            "plots": [f"{name}.png" for name in result.plots],
            "pages": [f"{name}.html" for name in result.pages],
        }
    )
    return described


def write_result(description: dict[str, Any], result: StudyResult, out: Path) -> Path:
    """A result's plots, pages and STUDY.json into a folder, as write_figures."""
    return write_figures(description["study"], description, result.plots, out, result.pages)


def write_figures(
    name: str,
    description: Mapping[str, Any],
    plots: Mapping[str, Figure],
    out: Path,
    pages: Mapping[str, str] | None = None,
) -> Path:
    """NAME.json, the plots and the pages, by their names, into a folder, which is made; files of these
    names are overwritten.

    Returns:
        The path of the JSON file.

    Raises:
        Error: a file cannot be written.
    """
    path = out / f"{name}.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        for plot_name, plot in plots.items():
            plot.savefig(out / f"{plot_name}.png", dpi=_DPI)
        for page_name, page in (pages or {}).items():
            (out / f"{page_name}.html").write_text(page)
        path.write_text(json.dumps(description, indent=1, allow_nan=False) + "\n")
    except OSError as e:
        raise Error("file_not_found", str(e.filename or out), f"cannot be written: {e}") from e
    return path
