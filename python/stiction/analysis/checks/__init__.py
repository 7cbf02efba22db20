"""Checks of a scene that need no run: what a contact model will get wrong, or does not read."""
