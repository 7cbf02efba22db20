"""The settings of a study, and its result: figures, checks and plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stiction.errors import Error
from stiction.evidence.studies.checks import Checks
from stiction.setup.defaults import builtin_defaults
from stiction.tables.output_files import make_plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure  # for types only, because matplotlib is slow to load
import importlib

from stiction.inputs.names import suggest_name

_DPI = 120


@dataclass(frozen=True)
class Settings:
    """The settings of a study."""

    # Whether to use fewer, larger steps and fewer models. The checks are equally strict.
    quick: bool
    contact_models: tuple[str, ...]  # names of the contact models to study
    peers: Path | None = None  # folder with results of other simulators to compare with, or None
    tell: Callable[[str], None] = lambda text: None  # called with a description of the next run

    def pick(self, *names: str) -> list[str]:
        """Returns those of the named contact models that are studied."""
        return [name for name in self.contact_models if name in names]


@dataclass
class StudyResult:
    """The result of a study."""

    figures: dict[str, Any] = field(default_factory=dict)  # measured values, fit for JSON
    checks: Checks = field(default_factory=Checks)  # checks of these values
    plots: dict[str, Figure] = field(default_factory=dict)  # plots by file name without suffix
    pages: dict[str, str] = field(default_factory=dict)  # HTML pages by file name without suffix
    notes: list[str] = field(default_factory=list)  # the parts that were left out, and the reasons

    @property
    def passed(self) -> bool:
        """True if all checks passed."""
        return all(check.passed for check in self.checks)


@dataclass(frozen=True)
class Study:
    """A study, as registry.py lists it."""

    name: str  # name on the command line
    title: str  # a line that describes the study
    run: Callable[[Settings], StudyResult]  # runs the experiments and checks their results
    # Names of the plots that a quick run draws. A whole run draws these and may draw others.
    plots: tuple[str, ...]
    # Contact models to study by default; None means all compliant models.
    contact_models: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        # Figures must not depend on defaults that the program has chosen.
        object.__setattr__(self, "run", builtin_defaults()(self.run))


def describe_result(study: Study, settings: Settings, result: StudyResult) -> dict[str, Any]:
    """Returns a result without its plots, fit for JSON."""
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
    """Writes a result's plots and pages and STUDY.json to a folder, as write_figures."""
    return write_figures(description["study"], description, result.plots, out, result.pages)


def write_figures(
    name: str,
    description: Mapping[str, Any],
    plots: Mapping[str, Figure],
    out: Path,
    pages: Mapping[str, str] | None = None,
) -> Path:
    """Writes NAME.json, plots and HTML pages to a folder. Returns the path of the JSON file."""
    path = out / f"{name}.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        for plot_name, plot in plots.items():
            plot.savefig(out / f"{plot_name}.png", dpi=_DPI)
        for page_name, page in (pages or {}).items():
            (out / f"{page_name}.html").write_text(page)
        path.write_text(json.dumps(description, indent=1, allow_nan=False) + "\n")
    except OSError as e:
        raise Error("invalid_value", str(e.filename or out), f"cannot be written: {e}") from e
    return path


# ---- The studies by name -------------------------------------------------------------------------
# A study is the object STUDY in the module stiction.evidence.studies.<name>.study; every folder with such
# a module is listed. The module loads matplotlib, which is slow, so it is imported only when the study
# is used.

STUDIES = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/study.py")))


def load_study(name: str) -> Study:
    """Imports a study and returns it."""
    if name not in STUDIES:
        raise Error("unknown_name", "study", f"there is no '{name}' {suggest_name(name, STUDIES)}")
    study: Study = importlib.import_module(f"stiction.evidence.studies.{name}.study").STUDY
    return study
