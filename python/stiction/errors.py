"""The exceptions of this package."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stiction._core import StepReport  # of the module that raises these errors


class Error(Exception):
    """The exception of this package: what is wrong, where, and what to do about it.

    Attributes:
        code: 'file_not_found', 'syntax', 'invalid_value', 'unknown_name', 'unsupported',
            'wrong_shape', 'version', 'mujoco' or 'step_failed'.
        where: file and line, element or argument; may be empty.
        message: the problem with the value, its cause and the remedy.
    """

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.code = code
        self.where = where
        self.message = message


class StepError(Error):
    """A step failed. The data keeps the state that it had before the step.

    Attributes:
        report: the StepReport of the step; its message says what went wrong.
    """

    def __init__(self, report: StepReport) -> None:
        super().__init__("step_failed", report.status, report.message)
        self.report = report


class StictionWarning(UserWarning):
    """A setting has no effect, or not the effect that it has in MuJoCo."""


class IgnoredSettingWarning(StictionWarning):
    """A setting has no effect under the contact model."""


@contextlib.contextmanager
def ignored_settings_are_fine() -> Iterator[None]:
    """Silences IgnoredSettingWarning, for comparisons: their scenes have settings for every model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredSettingWarning)
        yield
