"""MuJoCo's contact parameters for a stiffness in N/m, to compare mj_step with Stiction."""

from __future__ import annotations

import math

_SOFT_IMPEDANCE = 0.9
_MAX_IMPEDANCE = 0.9999  # largest impedance that MuJoCo accepts


def make_contact_attributes(mass: float, stiffness: float, time_step: float) -> str:
    """Returns solref and solimp of MJCF for critically damped contacts that sag like a spring.

    MuJoCo's contacts have no stiffness in N/m. A mass m on one contact with the time constant tc
    and the constant impedance d sags by (1 - d) g tc^2, as on a spring of stiffness m / ((1 - d)
    tc^2).

    The smallest time constant that MuJoCo accepts is 2 dt. For a spring that is softer than that of
    tc = 2 dt and d = 0.9, this function increases tc and does not reduce d further. The largest d
    that MuJoCo accepts gives 6e8 N/m for 1 kg and 2 ms. A larger stiffness is reduced to this
    value.

    Args:
        mass: mass that the contact carries, > 0 [kg].
        stiffness: stiffness of the contact, > 0 [N/m].
        time_step: > 0 [s].
    """
    soft = math.sqrt(mass / ((1 - _SOFT_IMPEDANCE) * stiffness))
    time_constant = max(2 * time_step, soft)
    impedance = min(1 - mass / (stiffness * time_constant**2), _MAX_IMPEDANCE)
    return f'solref="{time_constant!r} 1" solimp="{impedance!r} {impedance!r} 0.001"'
