"""MuJoCo's contact parameters for a stiffness in N/m, so that its own step can be compared with ours."""

from __future__ import annotations

import math

_MAX_IMPEDANCE = 0.9999  # that MuJoCo takes


def make_contact_attributes(mass: float, stiffness: float, time_step: float) -> str:
    """solref and solimp of MJCF, critically damped, for contacts that sag under a mass as a spring does.

    MuJoCo has no stiffness in N/m. A mass m on one contact of time constant tc and impedance d sags
    (1 - d) / d g / k_ref, with k_ref = 1 / (d tc)^2. The smallest tc that it takes is 2 dt; a spring that
    is softer than d = 0.9 makes there gets a larger one, a spring that is stiffer a larger d, up to the
    largest there is: beyond about 6e8 N/m at 1 kg and 2 ms contacts are softer than asked for.

    Args:
        mass: [kg]. stiffness: of the contact [N/m]. time_step: [s]. All above 0.
    """
    time_constant, impedance = 2 * time_step, 0.9
    softest = math.sqrt(mass / (impedance * (1 - impedance) * stiffness))
    if softest > time_constant:
        time_constant = softest
    else:
        for _ in range(300):
            impedance = 1 / (1 + mass / ((impedance * time_constant) ** 2 * stiffness))
    impedance = min(impedance, _MAX_IMPEDANCE)
    return f'solref="{time_constant!r} 1" solimp="{impedance!r} {impedance!r} 0.001"'
