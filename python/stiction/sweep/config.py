"""The configuration file of a sweep: what runs, in YAML."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from stiction import contact_models
from stiction.errors import Error, ErrorList
from stiction.inputs.arguments import check_path, parse_seconds
from stiction.inputs.names import suggest_name
from stiction.inputs.package_scenes import find_scene_file
from stiction.inputs.yaml_file import YamlNode, read_yaml_file
from stiction.runs.controls import ControlsName
from stiction.sweep.parameters import Parameter, make_parameter

# ---- The scenes of a sweep: files, patterns of files, and scenes of the package ------------------

_PATTERN = set("*?[")
_MAX_MATCHES = 10_000  # of a pattern


@dataclass(frozen=True)
class SceneEntry:
    """A scene that a configuration names at `where`; `label` is relative to its folder, or a name."""

    label: str
    path: Path
    where: str


def find_scenes(text: str, folder: Path, where: str) -> list[SceneEntry]:
    """Returns the scenes of a path, a pattern such as 'scenes/*.xml' or a name, sorted by path."""
    if _PATTERN & set(text):
        return _find_matches(text, folder, where)
    path = folder / text
    if path.is_file():
        return [SceneEntry(text, path, where)]
    if "/" in text or "\\" in text or "." in text:
        raise Error("file_not_found", where, f"there is no scene {path}")
    try:
        return [SceneEntry(text, find_scene_file(text), where)]
    except Error as e:
        raise Error(
            e.code, where, f"'{text}' is neither a file in {folder} nor: it {e.message}"
        ) from e


def _find_matches(pattern: str, folder: Path, where: str) -> list[SceneEntry]:
    anchor = Path(pattern).anchor
    root = Path(anchor) if anchor else folder
    if anchor and Path(pattern).parts[1] == "**":
        raise Error(
            "invalid_value",
            where,
            f"'{pattern}' searches all folders of {root}; begin with a folder",
        )
    try:
        files = (path for path in root.glob(pattern.removeprefix(anchor)) if path.is_file())
        found = sorted(itertools.islice(files, _MAX_MATCHES + 1))
    except (ValueError, NotImplementedError) as e:
        raise Error("invalid_value", where, f"'{pattern}' is not a pattern: {e}") from e
    if not found:
        raise Error("file_not_found", where, f"no file matches '{pattern}' in {root}")
    if len(found) > _MAX_MATCHES:
        raise Error(
            "invalid_value",
            where,
            f"'{pattern}' matches more than {_MAX_MATCHES:,} files in {root}; give a narrower pattern",
        )
    labels = [str(path) if anchor else path.relative_to(folder).as_posix() for path in found]
    return [SceneEntry(label, path, where) for label, path in zip(labels, found, strict=True)]


Value = TypeVar("Value")


@dataclass
class SweepConfig:
    """Settings of a sweep: all combinations of scenes, models, time steps, seeds and parameters.

    Attributes:
        path: path of the file.
        scenes: the scenes.
        contact_models: names of contact models.
        time_steps: [s]; None stands for the scene's own.
        duration: simulated time of each run [s]; None means the end of the scene's schedule of
            controls, or 2 s.
        controls: what drives the actuators; None means the scene's own, as in `stiction run`.
        seeds: seeds of random controls.
        properties: contact properties that replace those of the scenes: a path, the content as a
            dict, or None.
        bodies: patterns of the names of bodies whose drift is measured; None means the held body and
            all free bodies.
        parameters: the parameters of the grid with their values.
    """

    path: Path
    scenes: list[SceneEntry] = field(default_factory=list)
    contact_models: list[str] = field(default_factory=list)
    time_steps: list[float | None] = field(default_factory=lambda: [None])
    duration: float | None = None
    controls: ControlsName | None = None
    seeds: list[int] = field(default_factory=lambda: [0])
    properties: Path | dict[str, Any] | None = None
    bodies: list[str] | None = None
    parameters: list[Parameter] = field(default_factory=list)


def read_config(path: str | Path) -> SweepConfig:
    """Reads the configuration file of a sweep.

    Raises:
        Error: the file cannot be read, or has faults. The message has the line of each fault.
    """
    file = check_path("path", path)
    return _Reader(file).read(read_yaml_file(file, "sweep configuration"))


class _Reader:
    """Converts nodes to a SweepConfig, and collects all faults."""

    def __init__(self, path: Path) -> None:
        self._config = SweepConfig(path)
        self._folder = path.parent
        self._faults = ErrorList()
        self._sections: dict[str, Callable[[YamlNode], None]] = {
            "scenes": self._read_scenes,
            "contact_models": self._read_contact_models,
            "time_steps": self._read_time_steps,
            "duration": self._read_duration,
            "controls": self._read_controls,
            "seeds": self._read_seeds,
            "properties": self._read_properties,
            "bodies": self._read_bodies,
            "grid": self._read_grid,
        }

    def read(self, root: YamlNode) -> SweepConfig:
        if root.entries is None:
            raise Error(
                "syntax",
                root.where,
                f"the configuration is {root.describe()}, must be a mapping with 'scenes' and "
                "'contact_models'; see docs/sweep.md",
            )
        seen = self._read_entries(root, self._read_section)
        for name in ("scenes", "contact_models"):
            if name not in seen:
                self._fail("invalid_value", root, f"has no '{name}'; name at least one")
        self._faults.raise_if_any()
        return self._config

    def _read_entries(
        self, node: YamlNode, read: Callable[[str, YamlNode, YamlNode], None]
    ) -> set[str]:
        """Calls read(name, key, value) for each entry of a mapping. Returns the names."""
        seen: set[str] = set()
        for key, value in node.entries or ():
            name = key.scalar
            if not isinstance(name, str):
                self._fail("syntax", key, f"has {key.describe()} as a key; use a name")
            elif name in seen:
                self._fail("invalid_value", key, f"has '{name}' twice; remove one of them")
            else:
                seen.add(name)
                self._try(partial(read, name, key, value))
        return seen

    def _read_section(self, name: str, key: YamlNode, value: YamlNode) -> None:
        if name not in self._sections:
            names = list(self._sections)
            self._fail("unknown_name", key, f"there is no key '{name}' {suggest_name(name, names)}")
        elif value.is_null and name != "grid":
            self._fail("invalid_value", key, f"{name} is empty; give a value, or remove the key")
        else:
            self._sections[name](value)

    def _read_scenes(self, node: YamlNode) -> None:
        known: dict[str, SceneEntry] = {}
        for found in self._read_items("scenes", node, self._find_scenes):
            for scene in found:
                known.setdefault(scene.label, scene)
        self._config.scenes = list(known.values())

    def _find_scenes(self, item: YamlNode) -> list[SceneEntry]:
        return find_scenes(self._text("scenes", item), self._folder, item.where)

    def _read_contact_models(self, node: YamlNode) -> None:
        if node.scalar == "all":
            self._config.contact_models = contact_models()
            return
        self._read_items("contact_models", node, self._add_contact_model)

    def _add_contact_model(self, item: YamlNode) -> None:
        name = self._name("contact model", item, contact_models())
        if name in self._config.contact_models:
            self._fail("invalid_value", item, f"contact_models has '{name}' twice; remove one")
        self._config.contact_models.append(name)

    def _read_time_steps(self, node: YamlNode) -> None:
        times = self._read_items("time_steps", node, partial(self._time, "time_steps"))
        self._config.time_steps = list(dict.fromkeys(times))

    def _read_duration(self, node: YamlNode) -> None:
        self._config.duration = self._time("duration", node)

    def _read_controls(self, node: YamlNode) -> None:
        self._config.controls = ControlsName(self._name("controls", node, list(ControlsName)))

    def _read_seeds(self, node: YamlNode) -> None:
        self._config.seeds = list(dict.fromkeys(self._read_items("seeds", node, self._seed)))

    def _seed(self, item: YamlNode) -> int:
        seed = item.scalar
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise Error(
                "invalid_value",
                item.where,
                f"seeds has {item.describe()}, must be integers of at least 0",
            )
        return seed

    def _read_properties(self, node: YamlNode) -> None:
        if node.entries is not None:
            self._config.properties = node.make_plain()
        else:
            self._config.properties = self._folder / self._text("properties", node)

    def _read_bodies(self, node: YamlNode) -> None:
        self._config.bodies = self._read_items("bodies", node, partial(self._text, "bodies"))

    def _read_grid(self, node: YamlNode) -> None:
        if node.entries is None:
            raise Error(
                "syntax",
                node.where,
                f"grid is {node.describe()}, must be a mapping of parameters to lists of values; "
                "remove it if no parameter varies",
            )
        self._read_entries(
            node,
            lambda name, key, value: self._config.parameters.append(
                make_parameter(name, key, self._list(name, value))
            ),
        )

    # ---- values ----------------------------------------------------------------------------------

    def _list(self, name: str, node: YamlNode) -> list[YamlNode]:
        """Returns the nodes of a list; a single value counts as a list of one."""
        if node.items is None:
            if node.is_null:
                raise Error("invalid_value", node.where, f"{name} is empty; give a value")
            return [node]
        if not node.items:
            raise Error(
                "invalid_value",
                node.where,
                f"{name} is an empty list, so there is nothing to run; give a value",
            )
        return node.items

    def _read_items(
        self, name: str, node: YamlNode, read: Callable[[YamlNode], Value]
    ) -> list[Value]:
        """Returns what `read` makes of the items of a list, and notes the fault of each other item."""
        values: list[Value] = []
        for item in self._list(name, node):
            self._try(lambda item=item: values.append(read(item)))  # type: ignore[misc]
        return values

    def _text(self, name: str, node: YamlNode) -> str:
        if not isinstance(node.scalar, str):
            raise Error("wrong_shape", node.where, f"{name} has {node.describe()}, must be a text")
        return node.scalar

    def _name(self, kind: str, node: YamlNode, names: list[str]) -> str:
        name = self._text(kind, node)
        if name not in names:
            message = f"there is no {kind} '{name}' {suggest_name(name, names)}"
            raise Error("unknown_name", node.where, message)
        return name

    def _time(self, name: str, node: YamlNode) -> float:
        if isinstance(node.scalar, bool) or not isinstance(node.scalar, str | int | float):
            raise Error("wrong_shape", node.where, f"{name} has {node.describe()}, must be a time")
        try:
            return parse_seconds(str(node.scalar))
        except ValueError as e:
            raise Error("invalid_value", node.where, f"{name}: {e}") from e

    def _fail(self, code: str, node: YamlNode, message: str) -> None:
        self._faults.add(Error(code, node.where, message))

    def _try(self, read: Callable[[], None]) -> None:
        """Calls a reader, and notes its fault."""
        try:
            read()
        except Error as e:
            self._faults.add(e)
