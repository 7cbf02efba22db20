"""The scene under check, and what all checks ask about it."""

from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction._core import StepReport, contact_model_traits
from stiction.errors import IgnoredSettingWarning, StepError
from stiction.scene import Scene
from stiction.simulator import Simulator

_UNBOUNDED = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
_NO_CONTACTS = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT

_BLOCK = 256  # geoms whose partners are found at once


@dataclasses.dataclass(frozen=True)
class Finding:
    """The finding of a check."""

    check: str  # the name of the check
    message: str  # problem, cause and remedy
    values: dict[str, Any] = dataclasses.field(default_factory=dict)  # its numbers, in SI


class Subject:
    """A scene, a simulator with the options of its check, and the largest speed of its bodies [m/s]."""

    def __init__(self, scene: Scene, speed: float, **arguments: Any) -> None:
        self.scene = scene
        self.model = scene.model
        self.speed = max(speed, _find_initial_speed(scene))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.simulator: Simulator = scene.make_simulator(**arguments)
        ignored = [w for w in caught if issubclass(w.category, IgnoredSettingWarning)]
        self.ignored_settings = [str(w.message) for w in ignored]

    @property
    def contact_model(self) -> str:
        """The name of the contact model."""
        return self.simulator.contact_model

    @property
    def traits(self) -> Any:
        """The traits of the contact model."""
        return contact_model_traits(self.contact_model)

    @functools.cached_property
    def initial_report(self) -> StepReport | None:
        """The contacts at the initial state; None if their forces cannot be found."""
        try:
            return self.calc_initial_report()
        except StepError:
            return None

    def calc_initial_report(self) -> StepReport:
        """Computes the contacts at the initial state, or raises StepError."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a run shows its warnings itself
            return self.simulator.forward(self.scene.make_data())

    @functools.cached_property
    def thickness(self) -> NDArray[np.float64]:
        """The smallest side of each geom's bounding box [m]; infinite for planes and height fields."""
        sides: NDArray[np.float64] = 2 * self.model.geom_aabb[:, 3:].min(axis=1)
        sides[np.isin(self.model.geom_type, _UNBOUNDED)] = math.inf
        return sides

    @functools.cached_property
    def tree(self) -> NDArray[np.int32]:
        """The kinematic tree of each geom; -1 if it cannot move by a joint."""
        trees: NDArray[np.int32] = self.model.body_treeid[self.model.geom_bodyid]
        return trees

    @functools.cached_property
    def tree_mass(self) -> NDArray[np.float64]:
        """The mass of each kinematic tree [kg]."""
        trees, masses = self.model.body_treeid, self.model.body_mass
        moving = trees >= 0
        return np.bincount(trees[moving], masses[moving], self.model.ntree).astype(np.float64)

    def may_touch(self, geoms: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether MuJoCo collides geoms with each geom of the scene, (len(geoms), ngeom)."""
        m = self.model
        body = m.geom_bodyid
        weld = m.body_weldid[body]  # bodies without joints between them have the same
        allows: NDArray[np.bool_] = (m.geom_contype[geoms, None] & m.geom_conaffinity) != 0
        allows |= (m.geom_conaffinity[geoms, None] & m.geom_contype) != 0
        if not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT:
            parent = m.body_weldid[m.body_parentid[weld]]
            related = (weld[geoms, None] == parent) | (parent[geoms, None] == weld)
            allows &= ~(related & (weld[geoms, None] != 0) & (weld != 0))
        moves = self.tree >= 0
        allows &= (moves[geoms, None] | moves) & (weld[geoms, None] != weld)
        for row, geom in enumerate(geoms):
            if body[geom] in self._excluded:
                allows[row] &= ~np.isin(body, self._excluded[body[geom]])
            allows[row, self._paired.get(geom, [])] = True
        if m.opt.disableflags & _NO_CONTACTS:
            allows[:] = False
        return allows

    @functools.cached_property
    def _excluded(self) -> dict[int, list[int]]:
        """The bodies that <exclude> elements name together with a body."""
        return _join(
            (s >> 16 for s in self.model.exclude_signature),
            (s & 0xFFFF for s in self.model.exclude_signature),
        )

    @functools.cached_property
    def _paired(self) -> dict[int, list[int]]:
        """The geoms that <pair> elements name together with a geom."""
        return _join(self.model.pair_geom1, self.model.pair_geom2)

    def blocks(self, geoms: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Divides geoms into parts whose pairs with all geoms take little memory."""
        for begin in range(0, len(geoms), _BLOCK):
            yield geoms[begin : begin + _BLOCK]

    @functools.cached_property
    def touches_any(self) -> NDArray[np.bool_]:
        """Whether a geom may touch another one (ngeom,)."""
        touches = np.zeros(self.model.ngeom, bool)
        for geoms in self.blocks(np.arange(self.model.ngeom)):
            touches[geoms] = self.may_touch(geoms).any(axis=1)
        return touches

    def explain(self, geom1: int, geom2: int) -> dict[str, Any] | None:
        """The numbers of a contact in points by name; None if the geoms do not touch in points."""
        explanation = self.simulator.explain(int(geom1), int(geom2))
        if explanation["touches_in"] != "points":
            return None
        return {number["name"]: number["value"] for number in explanation["numbers"]}

    def name_geom(self, geom: int) -> str:
        """Returns "geom 'name'" or "geom #3"."""
        name = self.model.geom(int(geom)).name
        return f"geom '{name}'" if name else f"geom #{geom}"

    def name_body(self, body: int) -> str:
        """Returns "body 'name'" or "body #3"."""
        name = self.model.body(int(body)).name
        return f"body '{name}'" if name else f"body #{body}"

    def moving_bodies(self) -> Iterator[int]:
        """The bodies that joints move and that have a geom which may touch another."""
        for body in range(self.model.nbody):
            if self.model.body_treeid[body] >= 0 and self.geoms_of(body).size > 0:
                yield body

    def geoms_of(self, body: int) -> NDArray[np.int64]:
        """The geoms of a body that may touch another."""
        first = self.model.body_geomadr[body]
        geoms = np.arange(first, first + self.model.body_geomnum[body])
        return geoms[self.touches_any[geoms]]


def _find_initial_speed(scene: Scene) -> float:
    """Returns the largest speed of a body's center of mass at the initial state [m/s]."""
    model, data = scene.model, scene.make_data()
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    speeds = [0.0]
    jacobian = np.zeros((3, model.nv))
    for body in range(1, model.nbody) if data.qvel.any() else ():
        mujoco.mj_jacBodyCom(model, data, jacobian, None, body)
        speeds.append(float(np.linalg.norm(jacobian @ data.qvel)))
    return max(speed for speed in speeds if math.isfinite(speed))


def _join(first: Iterable[int], second: Iterable[int]) -> dict[int, list[int]]:
    """Returns the partners of each number in a list of pairs."""
    partners = defaultdict(list)
    for a, b in zip(first, second, strict=True):
        partners[int(a)].append(int(b))
        partners[int(b)].append(int(a))
    return partners
