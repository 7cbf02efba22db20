"""Tests that scenes come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import stiction
from stiction.inputs.package_scenes import find_scene_file, list_scenes


def test_scenes_come_with_the_package() -> None:
    assert find_scene_file("spatula").is_file()
    with pytest.raises(stiction.Error, match="did you mean 'spatula'"):
        find_scene_file("spatulla")


@pytest.mark.parametrize("name", list_scenes())
def test_a_scene_of_the_package_is_loaded_by_its_name(name: str) -> None:
    scene = stiction.load_scene(name)
    assert scene.path == find_scene_file(name)
    assert scene.model.nbody > 1


def test_a_file_goes_before_a_scene_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pinch").write_text("<mujoco model='mine'/>")
    (tmp_path / "grasp").mkdir()
    monkeypatch.chdir(tmp_path)
    assert stiction.load_scene("pinch").path == Path("pinch")
    assert stiction.load_scene("grasp").path == find_scene_file("grasp")


@pytest.mark.parametrize(
    ("path", "meant"), [("nope", None), ("scenes/pinch.xml", "pinch"), ("spatulla", "spatula")]
)
def test_an_unknown_scene_lists_those_of_the_package(
    path: str, meant: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(stiction.Error) as caught:
        stiction.load_scene(path)
    assert (caught.value.code, caught.value.where) == ("file_not_found", path)
    message = caught.value.message
    assert all(f"'{name}'" in message for name in list_scenes())
    assert ("did you mean" in message) == bool(meant)
    assert not meant or f"the scene '{meant}' of the package" in message
