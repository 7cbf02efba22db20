"""Colours of the contact models in plots."""

from __future__ import annotations

from stiction._core import contact_model_traits, contact_models

_GREY = "#888888"


def find_colour(contact_model: str) -> str:
    """Returns the colour of a contact model, the same wherever it is drawn.

    A model whose row in the table of models has no colour is grey, and so is any other name.
    """
    if contact_model not in contact_models():
        return _GREY
    return contact_model_traits(contact_model).colour or _GREY
