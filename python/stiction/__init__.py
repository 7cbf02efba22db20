"""Contact simulation that a roboticist can trust, on any MuJoCo scene."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stiction.binding._load import load_core

# Loads _core with the installed MuJoCo, and explains a missing or wrong one.
load_core()

from stiction import cones, lcp  # noqa: E402
from stiction._core import (  # noqa: E402
    Certificate,
    ContactPatch,
    ContactProperties,
    ContactReport,
    PatchReport,
    StepReport,
    TaxelReport,
    Taxels,
    TraceReport,
    contact_models,
    friction_laws,
    integrators,
    lcp_solvers,
    normal_laws,
    quadratures,
    rigid_contact_models,
    tessellations,
)
from stiction.clients.patch import Patch, patch  # noqa: E402
from stiction.continuous import ContinuousDynamics, Motion  # noqa: E402
from stiction.errors import Error, IgnoredSettingWarning, StepError, StepWarning, StictionWarning  # noqa: E402
from stiction.inputs.control_schedule import ControlSchedule  # noqa: E402
from stiction.laws import FrictionLaw, NormalLaw  # noqa: E402
from stiction.scene import Scene, load_scene  # noqa: E402
from stiction.setup.defaults import ChosenDefaults, get_default, set_default  # noqa: E402
from stiction.simulator import Simulator  # noqa: E402
from stiction.surfaces import ContactSurfaces  # noqa: E402
from stiction.tables.solver_trace import plot_trace  # noqa: E402

if TYPE_CHECKING:
    from stiction.batch import Batch, SimulationError
    from stiction.recording import Recorder, Recording, Replay
    from stiction.rollouts import Rollout, rollout, shutdown_persistent_pool
    from stiction.version import __version__

# These are imported at their first use, because what they import takes a quarter of the time of the rest.
_LATER = {
    "Batch": "stiction.batch",
    "Recorder": "stiction.recording",
    "Recording": "stiction.recording",
    "Replay": "stiction.recording",
    "Rollout": "stiction.rollouts",
    "SimulationError": "stiction.batch",
    "__version__": "stiction.version",
    "rollout": "stiction.rollouts",
    "shutdown_persistent_pool": "stiction.rollouts",
}

# Packages of their own, which dir() lists once they are imported.
_PACKAGES = ("compare", "gym", "meshing", "recording", "sweep")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'stiction' has no attribute '{name}'")
    globals()[name] = value = getattr(import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    """Lists what users can use, without the names that this file imports for itself."""
    packages = {name for name in _PACKAGES if name in globals()}
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__, *packages})


__all__ = [
    "Batch",
    "Certificate",
    "ChosenDefaults",
    "ContactPatch",
    "ContactProperties",
    "ContactReport",
    "ContactSurfaces",
    "ContinuousDynamics",
    "ControlSchedule",
    "Error",
    "FrictionLaw",
    "IgnoredSettingWarning",
    "Motion",
    "NormalLaw",
    "Patch",
    "PatchReport",
    "Recorder",
    "Recording",
    "Replay",
    "Rollout",
    "Scene",
    "SimulationError",
    "Simulator",
    "StepError",
    "StepReport",
    "StepWarning",
    "StictionWarning",
    "TaxelReport",
    "Taxels",
    "TraceReport",
    "__version__",
    "cones",
    "contact_models",
    "friction_laws",
    "get_default",
    "integrators",
    "lcp",
    "lcp_solvers",
    "load_scene",
    "normal_laws",
    "patch",
    "plot_trace",
    "quadratures",
    "rigid_contact_models",
    "rollout",
    "set_default",
    "shutdown_persistent_pool",
    "tessellations",
]
