"""PickAndHold: a gripper lifts a cube, and then holds it without letting it creep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.batch import Batch
from stiction.gym import quaternions
from stiction.gym.task import Bools, Floats, Ids, Task
from stiction.inputs.package_scenes import find_scene_file

_START_HEIGHT = 0.06  # of the pads above the center of the cube [m]
_REACH = 0.03  # a cube whose center is farther from the middle of the pads is not held [m]


@dataclass
class PickAndHold(Task):
    """A parallel gripper shall grasp a cube, lift it, and hold it so that it does not creep.

    An action has three numbers in [-1, 1]: the velocities of the palm along x and z, as fractions of
    max_speed, and the force of both fingers, as a fraction of 20 N; positive closes them.

    An observation has 14 numbers: the position and velocity of the cube relative to the hand (x, y,
    z), position and velocity of the palm (x, z), how far the fingers have closed and how fast (mean of
    both), 1 while the cube is held or else 0, and its drift. The hand is the middle of the pads.
    Units are m and m/s.

    The reward of a step is

        reward = height / lift_height - reach_weight * distance - squeeze_weight * (force / 20 N)^2
                 + hold_weight * is_held * max(0, 1 - drift / drift_limit)

    with the height of the cube above its start, at most lift_height and at least 0, its distance from
    the hand, and the force that closes the fingers. A cube is held while it is at least
    lift_height / 2 high and within 30 mm of the hand. Its drift is the distance by which it has moved
    relative to the hand since this hold began: the creep. Its last term decides: a cube that creeps by
    drift_limit earns nothing more for being held. An episode ends if a cube that was held is lost.

    `infos` has for each simulation `is_held`, `drift` [m], `creep_speed`, the mean speed of a held cube
    relative to the hand over the step [m/s], and `height` [m].

    Attributes:
        max_speed: largest speed of the palm [m/s].
        lift_height: height to which the cube shall be lifted [m].
        drift_limit: drift at which a hold earns nothing [m].
        hold_weight, reach_weight, squeeze_weight: weights of the reward; reach_weight in 1/m.
        position_noise: the cube begins at most this far from the middle along x, and a tenth of it
            along y [m].
        angle_noise: largest angle by which the cube is turned about the vertical axis [rad].
    """

    frame_skip: int = 10
    max_speed: float = 0.25
    lift_height: float = 0.1
    drift_limit: float = 1e-3
    hold_weight: float = 2.0
    reach_weight: float = 5.0
    squeeze_weight: float = 0.1
    position_noise: float = 0.04
    angle_noise: float = 0.1

    def make_model(self) -> mujoco.MjModel:
        return mujoco.MjModel.from_xml_path(str(find_scene_file("pick_and_hold")))

    def attach(self, batch: Batch) -> None:
        model = batch.model
        joint = model.joint
        # Places in qpos. They are those in qvel too, because the joints before the cube have one
        # coordinate each.
        self._across, self._lift = (joint(name).qposadr[0] for name in ("across", "lift"))
        self._left, self._right = (joint(name).qposadr[0] for name in ("left", "right"))
        self._cube = joint("cube").qposadr[0]
        self._axes = [model.actuator(name).id for name in ("across", "lift")]
        self._fingers = [model.actuator(name).id for name in ("left", "right")]
        self._low, self._high = model.actuator_ctrlrange[self._axes].T
        self._max_force = model.actuator("left").ctrlrange[1]
        self._is_held = np.zeros(batch.nsim, bool)
        self._grasp = np.zeros((batch.nsim, 3))  # the cube relative to the hand, when a hold began
        self._before = np.zeros((batch.nsim, 3))  # likewise, before a step
        super().attach(batch)

    def make_action_space(self) -> gymnasium.spaces.Box:
        return gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)

    def reset(self, ids: Ids, randoms: Sequence[np.random.Generator]) -> None:
        drawn = np.array([random.uniform(-1, 1, 3) for random in randoms])
        qpos = np.tile(self.batch.model.qpos0, (len(ids), 1))
        qpos[:, self._lift] = _START_HEIGHT
        qpos[:, self._cube : self._cube + 2] += drawn[:, :2] * self.position_noise * [1, 0.1]
        angle = drawn[:, 2] * self.angle_noise
        qpos[:, self._cube + 3 :] = quaternions.make_rotation(angle, np.array([[0.0, 0, 1]]))
        self.set_state(ids, qpos, np.zeros((len(ids), self.batch.model.nv)))
        self.ctrl[ids, self._axes[1]] = _START_HEIGHT
        self._is_held[ids] = False

    def act(self, actions: NDArray[Any], ids: Ids | slice) -> None:
        fractions = np.clip(actions[ids], -1.0, 1.0).astype(np.float64)
        controls = self.ctrl[ids]
        # The targets of the servos move with the velocities.
        targets = controls[:, self._axes] + self.max_speed * self.dt * fractions[:, :2]
        controls[:, self._axes] = np.clip(targets, self._low, self._high)
        controls[:, self._fingers] = self._max_force * fractions[:, 2:]
        self.ctrl[ids] = controls

    def begin_step(self) -> None:
        self._before = self._find_cube()

    def evaluate(self, actions: NDArray[Any]) -> tuple[Floats, Bools, dict[str, NDArray[Any]]]:
        cube, height = self._find_cube(), self._find_height()
        distance = np.linalg.norm(cube, axis=1)
        was_held = self._is_held
        self._update_hold(cube, (height >= self.lift_height / 2) & (distance <= _REACH))
        drift, moved = self._find_drift(), np.linalg.norm(cube - self._before, axis=1)
        squeeze = np.clip(self.ctrl[:, self._fingers[0]] / self._max_force, 0, 1)
        reward = (
            np.clip(height / self.lift_height, 0, 1)
            - self.reach_weight * distance
            - self.squeeze_weight * squeeze**2
            + self.hold_weight * self._is_held * np.maximum(0, 1 - drift / self.drift_limit)
        )
        infos = {
            "is_held": self._is_held.copy(),
            "drift": drift,
            "creep_speed": np.where(self._is_held, moved / self.dt, 0.0),
            "height": height,
        }
        return reward, was_held & (distance > _REACH), infos

    def observe(self) -> Floats:
        q, v = self.qpos, self.qvel
        hand_velocity = self._take_hand(v)
        cube_velocity = v[:, self._cube : self._cube + 3] - hand_velocity
        fingers = [self._left, self._right]
        columns = (
            self._find_cube(),
            cube_velocity,
            q[:, [self._across, self._lift]],
            v[:, [self._across, self._lift]],
            q[:, fingers].mean(axis=1, keepdims=True),
            v[:, fingers].mean(axis=1, keepdims=True),
            self._is_held[:, None],
            self._find_drift()[:, None],
        )
        return np.concatenate(columns, axis=1)

    def _take_hand(self, coordinates: Floats) -> Floats:
        """Returns the middle of the pads, or its velocity, from joint coordinates, (num_envs, 3)."""
        y = (coordinates[:, self._right] - coordinates[:, self._left]) / 2
        return np.stack([coordinates[:, self._across], y, coordinates[:, self._lift]], axis=1)

    def _find_cube(self) -> Floats:
        """Returns the position of the cube relative to the hand [m], (num_envs, 3)."""
        cube = self.qpos[:, self._cube : self._cube + 3] - self._take_hand(self.qpos)
        cube[:, 2] -= self.batch.model.qpos0[self._cube + 2]  # at lift = 0 the hand is at the cube
        return cube

    def _find_height(self) -> Floats:
        """Returns the height of the cube above its start [m]."""
        start: float = self.batch.model.qpos0[self._cube + 2]
        return np.asarray(self.qpos[:, self._cube + 2] - start)

    def _update_hold(self, cube: Floats, is_held: Bools) -> None:
        begins = is_held & ~self._is_held
        self._grasp[begins] = cube[begins]
        self._is_held = is_held

    def _find_drift(self) -> Floats:
        """Returns how far each held cube has moved relative to the hand [m]; 0 if it is not held."""
        drift = np.linalg.norm(self._find_cube() - self._grasp, axis=1)
        return np.where(self._is_held, drift, 0.0)
