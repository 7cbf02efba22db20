"""The exceptions of this package."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stiction._core import StepReport  # of the module that raises these errors


class Error(Exception):
    """What is wrong, where, and what to do about it.

    code: one of 'file_not_found', 'syntax', 'invalid_value', 'unknown_name', 'unsupported',
        'wrong_shape', 'version', 'mujoco', 'step_failed'.
    where: file and line, element or argument; may be empty.
    message: what is wrong, with the value, and the way out.
    """

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.code = code
        self.where = where
        self.message = message


class StepError(Error):
    """A step that could not be made; the state is that of its start. `report` says more."""

    def __init__(self, report: StepReport) -> None:
        super().__init__("step_failed", report.status, report.message)
        self.report = report


class StictionWarning(UserWarning):
    """A setting that has no effect, or not the effect it has in MuJoCo."""


class IgnoredSettingWarning(StictionWarning):
    """A setting that the contact model has no use for."""


@contextlib.contextmanager
def ignored_settings_are_fine() -> Iterator[None]:
    """Silences IgnoredSettingWarning, for comparisons: their scenes have settings for every model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredSettingWarning)
        yield
