"""Undoes the tone mapping of the browser, so that a color on the screen is the color of the scale.

viser's client draws with three.js' ACESFilmicToneMapping: c -> O f(I c / 0.6), where f is a quotient
of quadratic polynomials. The inverse solves a quadratic equation for each channel. Very saturated
colors have no inverse; the nearest color that the screen can show is taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Colors = NDArray[np.float64]

_EXPOSURE = 1 / 0.6
_INPUT = np.array(
    [[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]]
)
_OUTPUT = np.array(
    [[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]]
)
# f(v) = (v^2 + a v - b) / (c v^2 + d v + e)
_A, _B, _C, _D, _E = 0.0245786, 0.000090537, 0.983729, 0.4329510, 0.238081
_TOP = 0.98  # largest value of f that is inverted; its limit is 1 / c


def undo_tone_mapping(colors: Colors) -> Colors:
    """Returns linear colors >= 0, (n, 3), that appear as sRGB colors on the screen; they may exceed 1."""
    curved = np.clip(to_linear(colors) @ np.linalg.inv(_OUTPUT).T, 0, _TOP)
    # (1 - c y) v^2 + (a - d y) v - (b + e y) = 0 has one root that is not negative.
    p, q, r = 1 - _C * curved, _A - _D * curved, _B + _E * curved
    value = (-q + np.sqrt(q * q + 4 * p * r)) / (2 * p)
    return np.maximum(value @ np.linalg.inv(_INPUT).T / _EXPOSURE, 0)


def apply_tone_mapping(linear: Colors) -> Colors:
    """Returns the sRGB colors on the screen of linear colors, (n, 3)."""
    v = linear @ _INPUT.T * _EXPOSURE
    curved = (v * (v + _A) - _B) / (v * (_C * v + _D) + _E)
    return to_srgb(np.clip(curved @ _OUTPUT.T, 0, 1))


def to_linear(srgb: Colors) -> Colors:
    """Converts sRGB values to linear ones."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def to_srgb(linear: Colors) -> Colors:
    """Converts linear values to sRGB ones."""
    return np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055
    )
