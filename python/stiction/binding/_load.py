"""Connects the compiled module with the installed MuJoCo, after checks of both.

The module takes its symbols from the libmujoco that the package `mujoco` has loaded, so one build works
with each version of MuJoCo that has the same structs. python/LinkAnyMuJoCo.cmake describes how.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import mujoco

# The versions of MuJoCo that may have the structs of _core: from the first to below the last. Patches
# of MuJoCo 4.0 that are not known yet are tried; check_structs refuses those with other structs.
MUJOCO_VERSIONS = (4, 0, 0), (4, 1)
MUJOCO_RANGE = ">={}.{}.{},<{}.{}".format(*MUJOCO_VERSIONS[0], *MUJOCO_VERSIONS[1])
PACKAGES = ("mujoco", "mujoco-core")  # both have files in the folder mujoco
# MuJoCo's issue 3767: the sparse Cholesky factor of the Newton solver's Hessian is wrong. Corrected in
# MuJoCo 4.0.1. Stiction's own contact models do not call this solver.
WRONG_HESSIAN = "4.0.0"


def load_core() -> None:
    """Loads _core with the installed MuJoCo, or raises ImportError that says what to do."""
    check_processor()
    mujoco = import_mujoco()
    if sys.platform == "linux":
        check_library(mujoco)
    check_version(mujoco)
    if sys.platform == "linux":
        load_link(mujoco)
    core = importlib.import_module("stiction._core")
    check_structs(mujoco, core)


def import_mujoco() -> Any:
    """Imports the package `mujoco`."""
    try:
        import mujoco
    except ModuleNotFoundError as e:
        if e.name is None or e.name.partition(".")[0] != "mujoco":
            raise  # for example, NumPy is missing
        if e.name != "mujoco":
            raise _make_repair_error(e) from e
        raise ImportError(
            f'stiction needs MuJoCo, which is not installed: pip install "mujoco-core{MUJOCO_RANGE}"'
        ) from e
    except (ImportError, OSError) as e:  # OSError: MuJoCo 3's plug-ins, without its library
        raise _make_repair_error(e) from e
    if not hasattr(mujoco, "__version__") or not hasattr(mujoco, "_structs"):
        if mujoco.__file__ is None and any(map(_is_installed, PACKAGES)):
            raise _make_repair_error(f"its folder {next(iter(mujoco.__path__))} lacks files")
        place = mujoco.__file__ or next(iter(mujoco.__path__))
        raise ImportError(
            f"stiction needs MuJoCo, but the module 'mujoco' in {place} is not the package of MuJoCo; "
            "rename this file or folder, or remove its parent folder from sys.path"
        )
    return mujoco


def check_version(mujoco: Any) -> None:
    """Checks that the version of MuJoCo is in the supported range."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", mujoco.__version__)[:3])
    first, end = MUJOCO_VERSIONS
    if not first <= numbers < end:
        raise ImportError(
            f"stiction works with MuJoCo{MUJOCO_RANGE}, but {mujoco.__version__} is installed in "
            f"{_get_folder(mujoco)}; {_make_remedy()}. To keep that version instead, run pip uninstall "
            f"-y stiction mujoco mujoco-core && pip install mujoco=={mujoco.__version__}"
        )


def check_structs(mujoco: Any, core: Any) -> None:
    """Checks that MuJoCo has the structs and constants that _core was built with."""
    from stiction.binding._mujoco_layout import Field, Structs, find_differences

    fields = (Field(*row) for row in core.list_mujoco_fields())
    try:
        differences = list(find_differences(Structs(), fields, core.list_mujoco_constants()))
    except (AttributeError, TypeError, ValueError) as e:  # the package itself is another
        differences = [str(e)]
    if differences:
        built = core.MUJOCO_VERSION
        known = f"{built // 1_000_000}.{built // 1000 % 1000}.{built % 1000}"
        names = ", ".join(differences[:3])
        raise ImportError(
            f"MuJoCo {mujoco.__version__} in {_get_folder(mujoco)} has other structs than MuJoCo "
            f"{known}, which stiction was built with (differences: {len(differences)}, the first: "
            f"{names}); {_make_remedy(f'=={known}')}"
        )


def check_library(mujoco: Any) -> None:
    """Checks that _core will find the libmujoco that the package `mujoco` has loaded."""
    # The module of the package is linked with libmujoco, so its handle finds that one.
    library = _find_library(ctypes.CDLL(mujoco._structs.__file__))
    if library is None:
        raise _make_repair_error(f"found no libmujoco in {_get_folder(mujoco)}")
    other = _find_library(ctypes.CDLL(None))
    if other is not None and other != library:
        raise ImportError(
            f"this process has two MuJoCo libraries: {library}, of the package mujoco, and {other}, "
            "whose symbols hide those of the first. Import stiction before the library that brings the "
            "second, or use them in different processes"
        )


def load_link(mujoco: Any) -> None:
    """Loads the library through which _core depends on libmujoco of the installed version."""
    link = Path(__file__).parent.with_name(f"libmujoco_{mujoco.__version__}.so")
    if not link.exists():
        raise ImportError(
            f"stiction does not know MuJoCo {mujoco.__version__}, which is installed in "
            f"{_get_folder(mujoco)}; {_make_remedy(f'>=4.0.0,<{mujoco.__version__}')}"
        )
    try:
        ctypes.CDLL(str(link))
    except OSError as e:
        raise _make_repair_error(e) from e


class _SymbolInfo(ctypes.Structure):
    """Dl_info of the C library: where a symbol comes from."""

    _fields_ = (
        ("dli_fname", ctypes.c_char_p),
        ("dli_fbase", ctypes.c_void_p),
        ("dli_sname", ctypes.c_char_p),
        ("dli_saddr", ctypes.c_void_p),
    )


def _find_library(handle: ctypes.CDLL) -> str | None:
    """Returns the path of the libmujoco that a handle finds, or None."""
    try:
        function = ctypes.cast(handle.mj_versionString, ctypes.c_void_p)
    except AttributeError:
        return None
    info = _SymbolInfo()
    if not ctypes.CDLL(None).dladdr(function, ctypes.byref(info)):
        return None
    return os.fsdecode(os.path.realpath(info.dli_fname))


def _get_folder(mujoco: Any) -> Path:
    return Path(mujoco.__file__ or "").parent


def _make_repair_error(cause: Exception | str) -> ImportError:
    reason = str(cause).partition("\n")[0].rstrip(". ")
    return ImportError(
        f"MuJoCo cannot be imported ({reason}). This happens if files of the packages mujoco and "
        f"mujoco-core have overwritten each other; {_make_remedy()}"
    )


def _make_remedy(versions: str = MUJOCO_RANGE) -> str:
    """Returns the command that installs a MuJoCo that fits, and `mujoco` only if it was there."""
    names = [name for name in PACKAGES if _is_installed(name)]
    remove = f"pip uninstall -y {' '.join(names)} && " if names else ""
    package = "mujoco" if "mujoco" in names and versions == MUJOCO_RANGE else "mujoco-core"
    return f'run {remove}pip install "{package}{versions}"'


def _is_installed(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version  # slow, and only errors need it

    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def check_processor() -> None:
    """Raises ImportError if Python has 32 bits, or an x86-64 processor lacks instructions of _core."""
    if struct.calcsize("P") != 8:
        raise ImportError("stiction and MuJoCo need a 64-bit Python; this one has 32 bits")
    missing = _find_missing_instructions()
    if missing:
        raise ImportError(
            f"this build of stiction needs a processor with the instructions of x86-64-v3, but this one "
            f"lacks {missing}; build stiction for it: in its repository, or with its source distribution "
            "in place of the dot, run pip install --config-settings=cmake.define.STICTION_ARCH=x86-64 ."
        )


def _find_missing_instructions() -> str:
    """Returns the first instruction set that _core needs and the processor lacks, or ''."""
    path = Path(__file__).parent.with_name("libstiction_processor.so")
    if not path.exists():  # the build is for all processors of its architecture
        return ""
    function = ctypes.CDLL(str(path)).stiction_find_missing_instructions
    function.restype = ctypes.c_char_p
    return bytes(function()).decode()


def warn_of_faults(model: mujoco.MjModel) -> None:
    """Gives a StepWarning if the installed MuJoCo may solve the contacts of the model wrongly."""
    import mujoco

    from stiction.errors import StepWarning, warn

    if mujoco.__version__ != WRONG_HESSIAN:
        return
    if model.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON and mujoco.mj_isSparse(model):
        warn(
            StepWarning(
                "mujoco",
                f"MuJoCo {WRONG_HESSIAN} may compute wrong accelerations or diverge under the contact "
                "model 'mujoco', because its Newton solver factors the Hessian wrongly if the constraint "
                'Jacobian is sparse (issue 3767 of MuJoCo); set <option jacobian="dense"/>, or take '
                'another contact model, or pip install "mujoco-core>=4.0.1,<4.1" (pip then reports that '
                "the package mujoco 4.0.0 pins another version)",
            )
        )


def import_extra(module: str, what: str, need: str, extra: str) -> Any:
    """Imports a module such as 'pyarrow.parquet', and returns its package. Error if it is missing."""
    from stiction.errors import Error

    try:
        package = importlib.import_module(module.partition(".")[0])
        importlib.import_module(module)
    except ImportError as e:
        raise Error(
            "unsupported",
            what,
            f"{need}, which cannot be imported ({e}); run: pip install 'stiction[{extra}]'",
        ) from e
    return package
