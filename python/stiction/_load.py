"""What must hold before the compiled module can be loaded."""

from __future__ import annotations

import platform
from pathlib import Path

# The version whose headers _core is built with: structs are passed by address, so any other would
# read the wrong memory.
MUJOCO_VERSION = "4.0.1"


def load_core() -> None:
    """Loads libmujoco through the package `mujoco` and checks version and processor.

    Raises ImportError with what to do.
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
            f"in {Path(mujoco.__file__).parent}; "
            f"pip install --force-reinstall --no-deps mujoco-core=={MUJOCO_VERSION}"
        )
    check_processor()


def check_processor() -> None:
    """The compiled code uses AVX2 and FMA on x86-64; without them it would die of SIGILL."""
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
