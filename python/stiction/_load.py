"""Checks that must pass before the compiled module is loaded."""

from __future__ import annotations

import platform
from pathlib import Path

# The version whose headers _core is built with. _core reads MuJoCo's structs by their addresses, so
# another version, with another memory layout, would make it read the wrong memory.
MUJOCO_VERSION = "4.0.1"


def load_core() -> None:
    """Loads libmujoco through the package `mujoco` and checks its version and the processor.

    Raises:
        ImportError: MuJoCo is missing or has the wrong version, or the processor lacks
            instructions. The message says what to do.
    """
    try:
        import mujoco
    except ImportError as e:
        raise ImportError(
            f"stiction needs MuJoCo {MUJOCO_VERSION}: pip install mujoco-core=={MUJOCO_VERSION}"
        ) from e
    if mujoco.__version__ != MUJOCO_VERSION:
        raise ImportError(
            f"stiction was built for MuJoCo {MUJOCO_VERSION}, but {mujoco.__version__} is installed "
            f"in {Path(mujoco.__file__).parent}; run "
            f"pip install --force-reinstall --no-deps mujoco-core=={MUJOCO_VERSION}"
        )
    check_processor()


def check_processor() -> None:
    """Checks that an x86-64 processor has the instructions that the compiled code uses.

    Without them the process would be killed by SIGILL, with no explanation.

    Raises:
        ImportError: the processor lacks AVX2, FMA or BMI2.
    """
    cpuinfo = Path("/proc/cpuinfo")
    if platform.machine() not in ("x86_64", "AMD64") or not cpuinfo.exists():
        return
    for line in cpuinfo.read_text().splitlines():
        if line.startswith("flags"):
            missing = {"avx2", "fma", "bmi2"} - set(line.split())
            if missing:
                raise ImportError(
                    f"this build of stiction needs a processor with {', '.join(sorted(missing))}; "
                    "build from source with -DSTICTION_ARCH=x86-64"
                )
            return
