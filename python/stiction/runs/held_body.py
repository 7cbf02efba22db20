"""The held body that a scene declares, and its slip out of the bodies that hold it.

<custom><text name="stiction_held" data="cube"/></custom>
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction import ContactReport
from stiction.errors import Error
from stiction.inputs.custom_text import HELD, find_text
from stiction.inputs.suggestions import suggest_name
from stiction.scene import Scene


@dataclass(frozen=True)
class HeldBody:
    """A body, together with its subtree of the kinematic tree.

    name: name of the body.
    body: id of the body.
    bodies: ids of all bodies of the subtree, (n,).
    down: unit vector along gravity in the world frame, (3,).
    load: weight of the subtree [N].
    """

    name: str
    body: int
    bodies: NDArray[np.intp]
    down: NDArray[np.float64]
    load: float

    def find_contacts(self, contacts: ContactReport) -> NDArray[np.intp]:
        """Returns the indices of the contacts between these bodies and others, (n,)."""
        inside = np.isin(contacts.bodies, self.bodies)
        return np.flatnonzero(inside[:, 0] != inside[:, 1])

    def find_signs(self, contacts: ContactReport) -> NDArray[np.float64]:
        """Returns 1 for each contact of find_contacts that has these bodies second, else -1, (n,).

        The normal of a contact and its impulse are those on the second body.
        """
        second = contacts.bodies[self.find_contacts(contacts), 1]
        return np.where(np.isin(second, self.bodies), 1.0, -1.0)

    def find_holders(self, contacts: ContactReport) -> NDArray[np.intp]:
        """Returns the ids of the other bodies that touch these bodies, (n,)."""
        touching = contacts.bodies[self.find_contacts(contacts)]
        return np.unique(touching[~np.isin(touching, self.bodies)])


class Slip:
    """Slip of a held body along gravity, relative to the bodies that hold it at the start.

    The slip is the motion of the body's center of mass in the frame of each holder, averaged over
    the holders. Translation and rotation of the whole grasp therefore do not count as slip.
    """

    def __init__(self, held: HeldBody, holders: NDArray[np.intp], data: mujoco.MjData) -> None:
        self._held, self._holders = held, holders
        self._down_H = [data.xmat[h].reshape(3, 3).T @ held.down for h in holders]
        self._start = 0.0
        self._start = self.calc(data)

    def calc(self, data: mujoco.MjData) -> float:
        """Returns the slip since the start at the poses in data [m]; positive is down."""
        x = data.xipos[self._held.body]
        slips = [
            down_H @ (data.xmat[h].reshape(3, 3).T @ (x - data.xpos[h]))
            for h, down_H in zip(self._holders, self._down_H, strict=True)
        ]
        return float(np.mean(slips)) - self._start


def find_held_body(scene: Scene) -> HeldBody | None:
    """Returns the held body that the scene declares, or None if it declares no held body.

    Raises:
        Error: the named body does not exist or cannot fall, or the scene has no gravity.
    """
    model = scene.model
    name = find_text(model, scene.path, HELD)
    if name is None:
        return None
    return make_held_body(scene, name.strip(), f"{scene.path}: <text name='{HELD}'>")


def make_held_body(scene: Scene, name: str, where: str) -> HeldBody:
    """Returns the held body of a name.

    Args:
        scene: the scene.
        name: name of the body.
        where: place of the name, for errors.

    Raises:
        Error: the body does not exist or cannot fall, or the scene has no gravity.
    """
    model = scene.model
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    if body < 0:
        known = [model.body(i).name for i in range(1, model.nbody)]
        raise Error("unknown_name", where, f"there is no body '{name}' {suggest_name(name, known)}")
    if model.body_weldid[body] == 0:
        raise Error(
            "invalid_value", where, f"body '{name}' is fixed to the world; name one that moves"
        )
    gravity = float(np.linalg.norm(model.opt.gravity))
    if not gravity > 0:
        raise Error(
            "invalid_value",
            where,
            "needs gravity to load the grip, but gravity is 0; set <option gravity>",
        )
    bodies = [body]
    for child in range(body + 1, model.nbody):  # parents come before their children
        if model.body_parentid[child] in bodies:
            bodies.append(child)
    load = gravity * float(model.body_subtreemass[body])
    return HeldBody(name, body, np.array(bodies), model.opt.gravity / gravity, load)
