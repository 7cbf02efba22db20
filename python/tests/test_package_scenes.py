"""Tests that scenes come with the package."""

from __future__ import annotations

import pytest

import stiction
from stiction.package_scenes import find_scene_file


def test_scenes_come_with_the_package() -> None:
    assert find_scene_file("spatula").is_file()
    with pytest.raises(stiction.Error, match="did you mean 'spatula'"):
        find_scene_file("spatulla")
