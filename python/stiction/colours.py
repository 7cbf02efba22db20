"""Colours of the contact models in plots."""

from __future__ import annotations

# Told apart in light and in dark (contrast of at least 2.3 with both pages), and by most of the
# colour-blind.
_COLOURS = {
    "sap": "#e08a00",
    "lagged": "#2f7fd0",
    "lagged_regularized": "#12a58c",
    "similar": "#c05bb0",
    "coulomb": "#6a5cf0",
    "tamsi": "#8a6a4a",
    "no_slip": "#10b8e8",
    "viscous": "#8a7592",
    "stewart_trinkle": "#e88888",
    "anitescu_potra": "#4f8a1c",
    "drumwright_shell": "#a8b400",
    "mujoco": "#d8492f",
}


def find_colour(contact_model: str) -> str:
    """The same for a model wherever it is drawn; grey for a model that has none."""
    return _COLOURS.get(contact_model, "#888888")
