"""Scenes and model files of other packages: dm_control, gymnasium, gymnasium-robotics, or any."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import mujoco

from stiction.errors import Error
from stiction.scene import Scene


def scene_names() -> list[str]:
    """Returns the names that load_real_scene accepts."""
    return list(_SCENES)


def load_real_scene(name: str) -> Scene:
    """Loads a scene. The path of the scene is its name."""
    if name not in _SCENES:
        raise Error("unknown_name", name, f"is not a scene; the scenes are {', '.join(_SCENES)}")
    try:
        return Scene(Path(name), _SCENES[name]())
    except ImportError as e:
        raise Error(
            "unsupported",
            name,
            f"needs a package that is not installed ({e}); run pip install --no-deps dm_control "
            "gymnasium gymnasium-robotics, and install the packages that they import",
        ) from e


def _dm_control(name: str, make: Callable[[Any], tuple[Any, dict[str, Any]]]) -> mujoco.MjModel:
    """Loads a scene of dm_control's suite. `make` returns its MJCF and assets from its module."""
    os.environ.setdefault("MUJOCO_GL", "disable")  # its renderer is not needed
    xml, assets = make(importlib.import_module(f"dm_control.suite.{name}"))
    return mujoco.MjModel.from_xml_string(_text(xml), assets)


def _package_file(package: str, path: str) -> mujoco.MjModel:
    """Loads a file of a package without importing the package and its dependencies."""
    folder = find_package(package)
    if folder is None:
        raise ImportError(f"no module named '{package}'")
    return mujoco.MjModel.from_xml_path(str(folder / path))


def _many_humanoids(count: int = 22, spacing: float = 1.2) -> mujoco.MjModel:
    """Makes a scene of `count` humanoids of dm_control, close enough to fall on each other."""
    humanoid = importlib.import_module("dm_control.suite.humanoid")
    xml, assets = humanoid.get_model_and_assets()
    scene = mujoco.MjSpec()
    scene.option.timestep = 0.005
    scene.memory = 256 << 20
    scene.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 1])
    for i in range(count):
        child = mujoco.MjSpec.from_string(_text(xml), include=assets)
        for geom in child.worldbody.geoms:
            child.delete(geom)
        frame = scene.worldbody.add_frame(pos=[spacing * (i % 5), spacing * (i // 5), 0])
        scene.attach(child, frame=frame, prefix=f"h{i}_")
    return scene.compile()


def _text(xml: Any) -> str:
    return xml.decode() if isinstance(xml, bytes) else str(xml)


_BOX = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""

_SCENES: dict[str, Callable[[], mujoco.MjModel]] = {
    "humanoid": lambda: _dm_control("humanoid", lambda m: m.get_model_and_assets()),
    "quadruped": lambda: _dm_control("quadruped", lambda m: (m.make_model(), m.common.ASSETS)),
    "dog": lambda: _dm_control("dog", lambda m: m.get_model_and_assets(10, False)),
    "humanoid_CMU": lambda: _dm_control("humanoid_CMU", lambda m: m.get_model_and_assets()),
    "cheetah": lambda: _dm_control("cheetah", lambda m: m.get_model_and_assets()),
    "manipulator": lambda: _dm_control("manipulator", lambda m: m.make_model(False, False)),
    "swimmer": lambda: _dm_control("swimmer", lambda m: m.get_model_and_assets(6)),
    "finger": lambda: _dm_control("finger", lambda m: m.get_model_and_assets()),
    "stacker": lambda: _dm_control("stacker", lambda m: m.make_model(4)),
    "ant": lambda: _package_file("gymnasium", "envs/mujoco/assets/ant.xml"),
    "gym_humanoid": lambda: _package_file("gymnasium", "envs/mujoco/assets/humanoid.xml"),
    "walker2d": lambda: _package_file("gymnasium", "envs/mujoco/assets/walker2d.xml"),
    "hand_block": lambda: _package_file(
        "gymnasium_robotics", "envs/assets/hand/manipulate_block.xml"
    ),
    "22_humanoids": _many_humanoids,
    "pendulum": lambda: _dm_control("pendulum", lambda m: m.get_model_and_assets()),
    "box": lambda: mujoco.MjModel.from_xml_string(_BOX),
}


# ---- Model files of packages and folders ---------------------------------------------------------


def find_model_files(folder: Path) -> list[Path]:
    """Returns the MJCF and URDF files below a folder, sorted. Many of them may be parts of others."""
    files = [file for suffix in ("xml", "urdf") for file in folder.rglob(f"*.{suffix}")]
    return sorted(file for file in files if _is_model(file))


def find_package(name: str) -> Path | None:
    """Returns the folder of an installed package, which is not imported; None if there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def find_named_files(names: Iterable[str]) -> list[Path]:
    """Returns the model files of files, folders and installed packages, without duplicates."""
    return list(dict.fromkeys(file for name in names for file in _find_files_of(name)))


def _find_files_of(name: str) -> list[Path]:
    path = Path(name)
    if path.is_file():
        return [path]
    folder = path if path.is_dir() else find_package(name)
    if folder is None:
        raise Error(
            "file_not_found",
            name,
            "is neither a file, a folder nor an installed package; check its spelling, or install "
            "the package",
        )
    files = find_model_files(folder)
    if not files:
        raise Error("file_not_found", name, f"has no MJCF or URDF file below {folder}")
    return files


def _is_model(file: Path) -> bool:
    text = file.read_text(errors="replace")
    return "<mujoco" in text if file.suffix == ".xml" else "<robot" in text
