"""The plan of a sweep: its units, each a run described by plain data, with a key of its content."""

from __future__ import annotations

import copy
import dataclasses
import fnmatch
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stiction._core import ContactProperties
from stiction.errors import Error, ErrorList
from stiction.inputs.names import suggest_name
from stiction.recording import format as fmt
from stiction.runs.controls import ControlsName, count_steps, default_controls, default_duration
from stiction.runs.held_body import find_held_body
from stiction.scene import Scene, load_scene
from stiction.setup.options import OPTIONS
from stiction.setup.properties import make_properties
from stiction.sweep.config import SceneEntry, SweepConfig
from stiction.sweep.parameters import MATERIALS, OPTION, Parameter, Value, change_model, split_name
from stiction.sweep.unit_run import describe_software

Choice = tuple[Parameter, Value]
_MAX_COMBINATIONS = 1_000_000  # of a sweep; to list them takes about a minute


@dataclass(frozen=True)
class Unit:
    """A run, described by plain data.

    Attributes:
        scene: label of the scene.
        contact_model, time_step, duration, controls, seed: the inputs of the run.
        num_steps: number of steps.
        parameters: values of the grid by name, those that the contact model reads.
        options: options of Simulator among them.
        changes: fields of the model among them.
        properties: content of the contact properties, or None.
        bodies: names of the bodies whose drift is measured.
        model_digest: hash of the scene's model.
        files: hashes of files that the properties name, by path.
        software: versions and platform.
    """

    scene: str
    contact_model: str
    time_step: float
    duration: float
    controls: str
    seed: int
    num_steps: int
    parameters: dict[str, Any]
    options: dict[str, Any]
    changes: dict[str, Any]
    properties: dict[str, Any] | None
    bodies: list[str]
    model_digest: str
    files: dict[str, str]
    software: dict[str, str]

    @property
    def key(self) -> str:
        """Hash of everything that the results depend on, in hexadecimal digits.

        Another name of the same scene keeps the key. Other content of a file, another option or
        another version changes it.
        """
        content = dataclasses.asdict(self)
        del content["scene"], content["parameters"]
        return fmt.hash_bytes(json.dumps(content, sort_keys=True).encode()).hex()

    def inputs(self) -> dict[str, Any]:
        """Returns the values of the input columns and of the grid's parameters."""
        names = ("scene", "contact_model", "time_step", "duration", "controls", "seed")
        return {**{name: getattr(self, name) for name in names}, **self.parameters}

    def describe(self) -> str:
        """Returns a text that tells the unit from the others, for messages."""
        varied = [f"{name}={value}" for name, value in self.parameters.items()]
        parts = [self.scene, self.contact_model, f"{self.time_step:g} s", *varied]
        if self.controls == ControlsName.random:
            parts.append(f"seed {self.seed}")
        return ", ".join(parts)


@dataclass
class Plan:
    """The units of a sweep.

    Attributes:
        units: the units in the order of the table. No two are the same run.
        models: the models of the scenes by hash, as bytes of mj_saveModel.
        parameters: the names of the grid's parameters.
        num_combinations: number of combinations; some may be the same run.
    """

    units: list[Unit] = field(default_factory=list)
    models: dict[str, bytes] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    num_combinations: int = 0


def make_plan(config: SweepConfig) -> Plan:
    """Loads the scenes of a configuration, checks everything on them, and makes the units.

    Raises:
        Error: a scene cannot be loaded, or a parameter does not fit it. The message has all faults.
    """
    _check_size(config)
    plan = Plan(parameters=[parameter.name for parameter in config.parameters])
    faults = ErrorList()
    units: dict[str, Unit] = {}
    for entry in config.scenes:
        try:
            planner = _ScenePlanner(config, entry)
        except Error as e:
            faults.add(e)
            continue
        plan.models[planner.model_digest] = planner.model_bytes
        for unit in planner.make_units():
            plan.num_combinations += 1
            units.setdefault(unit.key, unit)
    faults.raise_if_any()
    plan.units = list(units.values())
    return plan


def _check_size(config: SweepConfig) -> None:
    """Raises Error if a sweep has so many combinations that listing them would not end."""
    counts = {
        "scenes": len(config.scenes),
        "contact models": len(config.contact_models),
        "time steps": len(config.time_steps),
        "seeds": len(config.seeds),
        **{parameter.name: len(parameter.values) for parameter in config.parameters},
    }
    number = math.prod(counts.values())
    if number > _MAX_COMBINATIONS:
        factors = " x ".join(f"{n} {name}" for name, n in counts.items() if n > 1)
        raise Error(
            "invalid_value",
            str(config.path),
            f"has {number:,} combinations ({factors}), and a sweep may have {_MAX_COMBINATIONS:,}; give "
            "fewer values, or several sweeps",
        )


class _ScenePlanner:
    """Makes the units of one scene."""

    def __init__(self, config: SweepConfig, entry: SceneEntry) -> None:
        self._config, self._entry = config, entry
        self._scene = self._load()
        self.model_bytes = _save_model(self._scene.model)
        self.model_digest = fmt.hash_bytes(self.model_bytes).hex()
        self._properties: dict[str, dict[str, Any] | None] = {}
        self._controls = config.controls or default_controls(self._scene)
        if len(config.seeds) > 1 and self._controls != ControlsName.random:
            raise Error(
                "invalid_value",
                str(config.path),
                f"has {len(config.seeds)} seeds, but only random controls read a seed, and "
                f"{entry.label} has controls '{self._controls}'; write 'controls: random', or remove "
                "'seeds'",
            )
        self._duration = config.duration or default_duration(self._scene)
        self._bodies = self._find_bodies()
        self._check_parameters()

    def make_units(self) -> Iterator[Unit]:
        config = self._config
        choices = [[(p, value) for value in p.values] for p in config.parameters]
        for model in config.contact_models:
            for chosen in itertools.product(*choices):
                for step, seed in itertools.product(config.time_steps, config.seeds):
                    yield self._make_unit(model, chosen, step, seed)

    def _make_unit(
        self, contact_model: str, chosen: tuple[Choice, ...], time_step: float | None, seed: int
    ) -> Unit:
        step = time_step or float(self._scene.model.opt.timestep)
        num_steps = count_steps(self._duration, step)
        read = [(p, value.value) for p, value in chosen if _is_read(p, contact_model)]
        properties = self._make_properties([c for c in chosen if c[0].kind == MATERIALS])
        return Unit(
            scene=self._entry.label,
            contact_model=contact_model,
            time_step=step,
            duration=self._duration,
            controls=self._controls.value,
            seed=seed,
            num_steps=num_steps,
            parameters={p.name: value for p, value in read},
            options={p.name: value for p, value in read if p.kind == OPTION},
            changes={p.name: value for p, value in read if p.changes_model},
            properties=properties,
            bodies=self._bodies,
            model_digest=self.model_digest,
            files=_hash_files(properties),
            software=describe_software(),
        )

    def _load(self) -> Scene:
        config = self._config
        try:
            # Each scene has an object of its own, to which load_scene adds the scene's classes.
            given = make_properties(config.properties, config.path.parent)
            return load_scene(self._entry.path, given)
        except Error as e:
            raise Error(e.code, self._entry.where, str(e)) from e

    def _find_bodies(self) -> list[str]:
        model, patterns = self._scene.model, self._config.bodies
        names = {i: model.body(i).name for i in range(1, model.nbody) if model.body(i).name}
        if patterns is None:
            held = find_held_body(self._scene)
            free = mujoco.mjtJoint.mjJNT_FREE
            found = {int(model.jnt_bodyid[j]) for j in np.flatnonzero(model.jnt_type == free)}
            return [name for i, name in names.items() if i in found or (held and held.name == name)]
        chosen: list[str] = []
        for pattern in patterns:
            matches = fnmatch.filter(names.values(), pattern)
            if not matches:
                raise Error(
                    "unknown_name",
                    f"{self._config.path}: bodies",
                    f"{self._entry.label} has no body '{pattern}' "
                    f"{suggest_name(pattern, list(names.values()))}",
                )
            chosen += matches
        return list(dict.fromkeys(chosen))

    def _check_parameters(self) -> None:
        """Applies each value once, and raises an Error with all that do not fit the scene."""
        faults = ErrorList()
        for parameter in self._config.parameters:
            for value in parameter.values:
                try:
                    if parameter.kind == MATERIALS:
                        self._make_properties([(parameter, value)])
                    elif parameter.changes_model:
                        model = copy.copy(self._scene.model)
                        change_model(model, parameter.name, value.value)
                except Error as e:
                    message = f"{self._entry.label}: {e.message}"
                    faults.add(Error(e.code, value.where, message))
        faults.raise_if_any()

    def _make_properties(self, chosen: list[Choice]) -> dict[str, Any] | None:
        """Returns the content of the scene's properties with other values of materials."""
        cached = repr([(parameter.name, value.value) for parameter, value in chosen])
        if cached not in self._properties:
            self._properties[cached] = self._change_properties(chosen)
        return self._properties[cached]

    def _change_properties(self, chosen: list[Choice]) -> dict[str, Any] | None:
        base = self._scene.properties
        content: dict[str, Any] | None = copy.deepcopy(base.content) if base is not None else None
        if not chosen:
            return content
        materials = (content or {}).get("materials", {})
        for parameter, value in chosen:
            name, field_name = split_name(parameter.name)
            if name not in materials:
                reason = "the scene has no contact properties; give a file under 'properties'"
                if materials:
                    reason = suggest_name(name, list(materials))
                raise Error("unknown_name", value.where, f"there is no material '{name}' {reason}")
            materials[name][field_name] = _make_text_of_infinity(value.value)
        text, folder = json.dumps(content), str(self._config.path.parent)
        parsed = ContactProperties.parse(text, chosen[0][1].where, has_lines=False, folder=folder)
        return parsed.content


def _is_read(parameter: Parameter, contact_model: str) -> bool:
    """True if the contact model reads the parameter. Otherwise its values all give the same run."""
    if parameter.kind != OPTION:
        return True
    return contact_model in OPTIONS[parameter.name].contact_models


def _make_text_of_infinity(value: Any) -> Any:
    """JSON, as which the content is parsed, has no infinity."""
    return ".inf" if value == float("inf") else value


def _save_model(model: mujoco.MjModel) -> bytes:
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def _hash_files(properties: dict[str, Any] | None) -> dict[str, str]:
    """Returns the hashes of the pressure fields that properties name."""
    materials = (properties or {}).get("materials", {}).values()
    paths = {m["pressure_field"] for m in materials if "pressure_field" in m}
    return {path: _hash_file(path) for path in sorted(paths)}


def _hash_file(path: str) -> str:
    try:
        return fmt.hash_bytes(Path(path).read_bytes()).hex()
    except OSError as e:
        raise Error("file_not_found", path, f"cannot be read: {e.strerror or e}") from e
