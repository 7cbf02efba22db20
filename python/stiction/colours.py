"""Colours of the contact models in plots."""

from __future__ import annotations

# Told apart in light and in dark, and by most of the colour-blind.
_COLOURS = {
    "sap": "#e08a00",
    "lagged": "#2f7fd0",
    "lagged_regularized": "#12a58c",
    "similar": "#c05bb0",
    "coulomb": "#20306b",
    "tamsi": "#8a6a4a",
    "no_slip": "#111111",
    "viscous": "#5fb7e0",
    "stewart_trinkle": "#7a3fa0",
    "anitescu_potra": "#b08fd0",
    "drumwright_shell": "#7f9a2e",
    "mujoco": "#d8492f",
}


def find_colour(contact_model: str) -> str:
    """The same for a model wherever it is drawn; grey for a model that has none."""
    return _COLOURS.get(contact_model, "#888888")
