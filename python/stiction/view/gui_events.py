"""Reactions to what a user does on the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def on_user(register: Callable[..., Any], act: Callable[[Any], None]) -> None:
    """Registers what a user's input does. A value that the program itself shows has no effect."""

    def obey(event: Any) -> None:
        if event.client_id is not None:
            act(event)

    register(obey)
