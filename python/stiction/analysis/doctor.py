"""Finds out whether this installation can do its work, and how to repair what cannot."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

import stiction
from stiction.binding._load import MUJOCO_RANGE
from stiction.errors import Error

_BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .0999"><freejoint/>
<geom size=".1"/></body></worldbody></mujoco>"""
_SMOKE_MODELS = ("coulomb", "sap", "no_slip", "mujoco")
_SMOKE_STEPS = 200
# Instruction sets that _core needs (x86-64-v3), as Linux names them.
_FEATURES = ("avx2", "fma", "bmi2", "movbe", "f16c")


@dataclass(frozen=True)
class Diagnosis:
    """The result of one examination: 'ok', 'missing' for something optional, or 'failed'."""

    name: str
    status: str
    text: str
    remedy: str = ""


def examine() -> list[Diagnosis]:
    """Examines versions, MuJoCo, the processor, extras, a step and folders for caches."""
    found: list[Diagnosis] = []
    for look in (
        _find_versions,
        _find_mujoco,
        _find_processor,
        _try_steps,
        _try_folders,
        _find_extras,
    ):
        found += look()
    return found


def _find_versions() -> Iterator[Diagnosis]:
    text = f"stiction {stiction.__version__} in {Path(stiction.__file__).parent}"
    yield Diagnosis("stiction", "ok", text)
    python = f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.platform()}"
    yield Diagnosis("python", "ok", python)


def _find_mujoco() -> Iterator[Diagnosis]:
    """Yields the version and place of MuJoCo. A wrong one has already failed at import."""
    place = Path(mujoco.__file__).parent
    version = f"MuJoCo {mujoco.__version__} in {place}, within {MUJOCO_RANGE}"
    yield Diagnosis("mujoco", "ok", version)
    packages = {name: _find_version(name) for name in ("mujoco", "mujoco-core", "mujoco-studio")}
    different = {n: v for n, v in packages.items() if v and v != mujoco.__version__}
    if different:
        names = ", ".join(f"{name} {version}" for name, version in different.items())
        yield Diagnosis(
            "mujoco packages",
            "missing",
            f"{names} beside MuJoCo {mujoco.__version__}; packages of another version do not load",
            f"pip install mujoco-core=={next(iter(different.values()))}, or the same version of all",
        )


def _read_processor() -> tuple[str, str]:
    """Returns the name of the processor and its flags, which are empty where the system hides them."""
    try:
        info = Path("/proc/cpuinfo").read_text()
    except OSError:
        info = ""
    name = re.search(r"^model name\s*:\s*(.+)$", info, re.M)
    flags = re.search(r"^flags\s*:\s*(.+)$", info, re.M)
    return name[1] if name else platform.processor() or platform.machine(), flags[
        1
    ] if flags else ""


def describe_machine() -> str:
    """Returns the processor, its number of cores, and the system."""
    return f"{_read_processor()[0]} with {os.cpu_count()} cores under {platform.system()}"


def _find_processor() -> Iterator[Diagnosis]:
    """Yields the processor with the instructions that _core needs. Import fails without them."""
    name, flags = _read_processor()
    cores = f"{name}, {os.cpu_count()} cores"
    if not flags:
        yield Diagnosis("processor", "ok", cores)
        return
    has = [feature for feature in _FEATURES if feature in flags.split()]
    lacks = [feature for feature in _FEATURES if feature not in has]
    text = f"{cores}, with {', '.join(has)}" + (f", without {', '.join(lacks)}" if lacks else "")
    remedy = "build from source on this processor, see docs/building.md" if lacks else ""
    yield Diagnosis("processor", "failed" if lacks else "ok", text, remedy)


def _try_steps() -> Iterator[Diagnosis]:
    """Yields whether a ball rests on a plane under a model of each kind."""
    model = mujoco.MjModel.from_xml_string(_BALL)
    for name in _SMOKE_MODELS:
        data = mujoco.MjData(model)
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                report = stiction.Simulator(model, name).step(data, nstep=_SMOKE_STEPS)
        except Error as e:
            remedy = "reinstall: pip install --force-reinstall stiction; then report the message"
            yield Diagnosis(f"step, {name}", "failed", str(e), remedy)
            continue
        us = 1e6 * (time.perf_counter() - begin) / _SMOKE_STEPS
        force = float(report.contacts.force[0, 2]) if len(report.contacts) else 0.0
        weight = 9.81 * float(model.body_mass[1])
        rests = abs(abs(force) - weight) < 0.01 * weight
        text = f"a ball rests on a plane; {us:.0f} us per step"
        if rests:
            yield Diagnosis(f"step, {name}", "ok", text)
        else:
            yield Diagnosis(
                f"step, {name}",
                "failed",
                f"the floor carries {force:.4g} N of {weight:.4g} N",
                "reinstall: pip install --force-reinstall stiction; then report this line",
            )


def _try_folders() -> Iterator[Diagnosis]:
    """Yields whether files can be written where commands write them."""
    matplotlib = os.environ.get("MPLCONFIGDIR") or str(_find_matplotlib_folder())
    for name, folder, remedy in (
        ("temporary files", tempfile.gettempdir(), "set TMPDIR to a folder that can be written"),
        ("matplotlib's cache", matplotlib, "set MPLCONFIGDIR to a folder that can be written"),
        ("working directory", str(Path.cwd()), "change to another folder, or give --out or --html"),
    ):
        fault = _try_to_write(Path(folder))
        if fault:
            yield Diagnosis(name, "failed", f"{folder}: {fault}", remedy)
        else:
            yield Diagnosis(name, "ok", f"{folder} can be written")


def _find_matplotlib_folder() -> Path:
    """Returns the folder in which matplotlib keeps its list of fonts, without loading matplotlib."""
    home = Path("~").expanduser()
    if platform.system() == "Linux":
        return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "matplotlib"
    return home / ".matplotlib"


def _try_to_write(folder: Path) -> str:
    """Returns why no file can be written in a folder, or in the nearest that exists; empty if one can."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0")
    except OSError as e:
        return e.strerror or str(e)
    return ""


def _find_extras() -> Iterator[Diagnosis]:
    """Yields the extras of the package, and which of their packages are installed."""
    metadata = importlib.metadata.metadata("stiction")
    requirements = importlib.metadata.requires("stiction") or []
    for extra in metadata.get_all("Provides-Extra") or []:
        names = [
            re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
            for requirement in requirements
            if re.search(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]", requirement)
        ]
        versions = {name: _find_version(name) for name in names}
        missing = [name for name, version in versions.items() if version is None]
        there = [f"{name} {version}" for name, version in versions.items() if version]
        text = ", ".join([*there, *(f"no {name}" for name in missing)])
        remedy = f'pip install "stiction[{extra}]", if you need it' if missing else ""
        yield Diagnosis(f"extra {extra}", "missing" if missing else "ok", text, remedy)


def _find_version(package: str) -> str | None:
    find: Callable[[str], str] = importlib.metadata.version
    try:
        return find(package)
    except importlib.metadata.PackageNotFoundError:
        return None
