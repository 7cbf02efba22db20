"""What the bits of a step depend on beside scene, options and state."""

from __future__ import annotations

import platform

import mujoco

from stiction.version import __version__


def describe_environment() -> dict[str, str]:
    """Versions and platform, by name."""
    return {
        "stiction_version": __version__,
        "mujoco_version": mujoco.__version__,
        "architecture": platform.machine(),
        "system": platform.system(),
        "libc": " ".join(platform.libc_ver()).strip(),
    }


def find_differences(recorded: dict[str, str]) -> list[str]:
    """What differs between the environment of a recording and this one, a sentence each."""
    here = describe_environment()
    return [
        f"recorded with {name.replace('_', ' ')} {recorded.get(name, 'unknown')}, "
        f"this is {here[name]}: bits may differ"
        for name in here
        if recorded.get(name) != here[name]
    ]
