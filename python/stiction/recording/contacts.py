"""Conversion of contacts and anchors to the records of a recording and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stiction._core import ContactReport
from stiction.recording import format as fmt
from stiction.recording.patches import RecordedPatch


def pack_contacts(contacts: ContactReport) -> bytes:
    """Returns the records of contacts as bytes."""
    records = np.zeros(len(contacts), fmt.CONTACT_DTYPE)
    for name in fmt.CONTACT_DTYPE.names or ():
        records[name] = getattr(contacts, name)
    return records.tobytes()


def unpack_contacts(data: bytes, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Rebuilds the contacts of a step as records of format.CONTACT_DTYPE.

    Args:
        data: the message.
        dtype: the type of its records. Those of format 1 have no slip velocity and no torque, which are
            then NaN, and no patch, which is -1 until mark_patches.

    Raises:
        ValueError: the message is no sequence of such records.
    """
    recorded = np.frombuffer(data, dtype)
    if dtype == fmt.CONTACT_DTYPE:
        return recorded
    records = np.zeros(len(recorded), fmt.CONTACT_DTYPE)
    records["slip_velocity"] = records["torque_impulse"] = np.nan
    records["patch"] = -1
    return _copy_fields(recorded, records)


def unpack_anchors(data: bytes, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Rebuilds the anchors of a step as records of format.ANCHOR_DTYPE.

    Args:
        data: the message.
        dtype: the type of its records. Fields that they lack are 0.

    Raises:
        ValueError: the message is no sequence of such records.
    """
    recorded = np.frombuffer(data, dtype)
    return _copy_fields(recorded, np.zeros(len(recorded), fmt.ANCHOR_DTYPE))


def _copy_fields(source: NDArray[np.void], out: NDArray[np.void]) -> NDArray[np.void]:
    """Copies the fields that both arrays have, and returns `out`."""
    for name in source.dtype.names or ():
        if name in (out.dtype.names or ()):
            out[name] = source[name]
    return out


def mark_patches(contacts: NDArray[np.void], patches: list[RecordedPatch]) -> NDArray[np.void]:
    """Sets the patch of contacts of format 1. Two geoms touch in points or in a patch, never in both."""
    contacts = contacts.copy()
    for i, patch in enumerate(patches):
        contacts["patch"][(contacts["geoms"] == patch.patch["geoms"]).all(axis=1)] = i
    return contacts
