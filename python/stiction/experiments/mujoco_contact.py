"""MuJoCo's contact parameters for a stiffness in N/m, so that its own step can be compared with ours."""

from __future__ import annotations

import math

_SOFT_IMPEDANCE = 0.9
_MAX_IMPEDANCE = 0.9999  # that MuJoCo takes


def make_contact_attributes(mass: float, stiffness: float, time_step: float) -> str:
    """solref and solimp of MJCF, critically damped, for contacts that sag under a mass as a spring does.

    MuJoCo has no stiffness in N/m. A mass m on one contact of time constant tc and constant impedance d
    sags (1 - d) g tc^2, as on a spring of m / ((1 - d) tc^2). The smallest tc that it takes is 2 dt;
    where a spring is softer than d = 0.9 makes it there, tc is larger. The largest d that it takes makes
    6e8 N/m of 1 kg at 2 ms: stiffer contacts are softer than asked for.

    Args:
        mass: [kg]. stiffness: of the contact [N/m]. time_step: [s]. All above 0.
    """
    soft = math.sqrt(mass / ((1 - _SOFT_IMPEDANCE) * stiffness))
    time_constant = max(2 * time_step, soft)
    impedance = min(1 - mass / (stiffness * time_constant**2), _MAX_IMPEDANCE)
    return f'solref="{time_constant!r} 1" solimp="{impedance!r} {impedance!r} 0.001"'
