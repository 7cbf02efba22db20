"""The exceptions and warnings of this package."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # For types only: _core raises these errors, and so imports this module.
    from stiction._core import StepReport


class Error(Exception):
    """An error that names the problem, its place, and a remedy.

    Attributes:
        code: 'file_not_found', 'syntax', 'invalid_value', 'unknown_name', 'unsupported',
            'wrong_shape', 'version', 'mujoco' or 'step_failed'.
        where: file and line, element or argument; may be empty.
        message: the problem with its value, the cause, and the remedy.
    """

    def __init__(self, code: str, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.code = code
        self.where = where
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes pickle possible, for example for the errors of another process."""
        return type(self), (self.code, self.where, self.message)


class ErrorList:
    """Collects the faults of a file, so that all of them are reported at once."""

    def __init__(self) -> None:
        self._errors: list[Error] = []

    def add(self, error: Error) -> None:
        """Adds a fault."""
        self._errors.append(error)

    def raise_if_any(self) -> None:
        """Raises the fault if there is one. Several become one Error, with the code of the first."""
        errors = self._errors
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise Error(errors[0].code, "", "\n".join(map(str, errors)))


class StepError(Error):
    """A step failed. The state is the one from before the step.

    Attributes:
        report: the StepReport of the step; its message says what went wrong.
    """

    def __init__(self, report: StepReport) -> None:
        super().__init__("step_failed", report.status, report.message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.report,)


class StictionWarning(UserWarning):
    """A setting has another effect than in MuJoCo. The base class of this package's warnings."""


class StepWarning(StictionWarning):
    """A step succeeded beyond the limits of its model, or MuJoCo warned.

    A Simulator gives each kind of warning once, and counts them in `warning_counts`.

    Attributes:
        kind: 'mujoco', 'patch_limit', 'conflict', 'large_force', 'penetration', 'limit',
            'law_range', 'coupling', 'rotation', 'plugin_state', 'anchors', 'made_energy' or
            'contact_list', a key of StepReport.warnings.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class IgnoredSettingWarning(StictionWarning):
    """The contact model does not use a setting that was given."""


def warn(warning: StictionWarning) -> None:
    """Gives a warning at the line that caused it, which is the last one outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


_PACKAGE = str(Path(__file__).parent) + os.sep


@contextlib.contextmanager
def ignored_settings_are_fine() -> Iterator[None]:
    """Silences IgnoredSettingWarning for models that are given the settings of others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredSettingWarning)
        yield
