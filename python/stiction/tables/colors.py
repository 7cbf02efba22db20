"""Colors of the contact models in plots."""

from __future__ import annotations

from stiction._core import contact_model_traits, contact_models

_GRAY = "#888888"


def find_color(contact_model: str) -> str:
    """Returns the color of a contact model, the same wherever it is drawn; gray if the table has none."""
    if contact_model not in contact_models():
        return _GRAY
    return contact_model_traits(contact_model).color or _GRAY
