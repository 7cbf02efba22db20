"""Contact simulation that a roboticist can trust, on any MuJoCo scene."""

from stiction._load import load_core

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
from stiction.control_schedule import ControlSchedule  # noqa: E402
from stiction.defaults import ChosenDefaults, get_default, set_default  # noqa: E402
from stiction.errors import (  # noqa: E402
    Error,
    IgnoredSettingWarning,
    StepError,
    StepWarning,
    StictionWarning,
)
from stiction.laws import FrictionLaw, NormalLaw  # noqa: E402
from stiction.recording import Recorder, Recording, Replay  # noqa: E402
from stiction.scene import Scene, load_scene  # noqa: E402
from stiction.simulator import Simulator  # noqa: E402
from stiction.solver_trace import plot_trace  # noqa: E402
from stiction.surfaces import ContactSurfaces  # noqa: E402
from stiction.version import __version__  # noqa: E402

__all__ = [
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
    "Scene",
    "Simulator",
    "StepError",
    "StepReport",
    "StepWarning",
    "StictionWarning",
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
    "set_default",
    "tessellations",
]
