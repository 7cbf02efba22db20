"""The software and platform that the bits of a step depend on beside scene, options and state."""

from __future__ import annotations

import platform

import mujoco

from stiction.version import __version__


def describe_environment() -> dict[str, str]:
    """Returns the versions and the platform by name."""
    return {
        "stiction_version": __version__,
        "mujoco_version": mujoco.__version__,
        "architecture": platform.machine(),
        "system": platform.system(),
        "libc": " ".join(platform.libc_ver()).strip(),
    }


def find_differences(recorded: dict[str, str]) -> list[str]:
    """Describes each difference between a recording's environment and this one."""
    here = describe_environment()
    return [
        f"recorded with {name.replace('_', ' ')} {recorded.get(name, 'unknown')}, but this is "
        f"{here[name]}; the last bits may differ"
        for name in here
        if recorded.get(name) != here[name]
    ]
