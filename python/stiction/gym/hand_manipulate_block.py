"""HandManipulateBlock: a Shadow hand turns a block, as in gymnasium-robotics."""

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
from stiction.gym.requirements import find_asset
from stiction.gym.task import Bools, Floats, Ids, Task
from stiction.inputs.arguments import check_name

# The goal's position relative to that of the block after it has settled [m].
_POSITION_LOW, _POSITION_HIGH = np.array([[-0.04, -0.06, 0.0], [0.04, 0.02, 0.06]])
# Number of steps after a reset in which the block settles on the hand.
_NUM_SETTLING_STEPS = 10
_PALM_HEIGHT = 0.04  # a block whose center is lower has fallen from the hand [m]


@dataclass
class HandManipulateBlock(Task):
    """The task of HandManipulateBlock-v1 of gymnasium-robotics.

    https://robotics.farama.org/envs/shadow_dexterous_hand/manipulate_block describes actions,
    observations and rewards. The model is the file of the installed gymnasium-robotics, which itself
    is not imported. An action is a fraction of each actuator's range about its center.

    Attributes:
        reward_type: 'sparse', 0 at the goal and -1 elsewhere; or 'dense', minus the distance.
        target_position: 'random', or 'ignore' if the position of the block does not matter.
        target_rotation: 'xyz' for goals turned about any axis, 'z' about the vertical one.
        distance_threshold, rotation_threshold: how near the goal counts as reached [m, rad].
        randomize_initial_position, randomize_initial_rotation: whether the block begins at random.
    """

    frame_skip: int = 20
    reward_type: str = "sparse"
    target_position: str = "random"
    target_rotation: str = "xyz"
    distance_threshold: float = 0.01
    rotation_threshold: float = 0.1
    randomize_initial_position: bool = True
    randomize_initial_rotation: bool = True

    def __post_init__(self) -> None:
        check_name("reward_type", self.reward_type, ("sparse", "dense"))
        check_name("target_position", self.target_position, ("random", "ignore"))
        check_name("target_rotation", self.target_rotation, ("xyz", "z"))

    def make_model(self) -> mujoco.MjModel:
        file = find_asset("gymnasium_robotics", "envs/assets/hand/manipulate_block.xml")
        return mujoco.MjModel.from_xml_path(str(file))

    def attach(self, batch: Batch) -> None:
        model = batch.model
        robot = [i for i in range(model.njnt) if model.joint(i).name.startswith("robot")]
        self._robot_qpos = model.jnt_qposadr[robot]
        self._robot_qvel = model.jnt_dofadr[robot]
        block = model.joint("object:joint")
        self._block = slice(block.qposadr[0], block.qposadr[0] + 7)
        self._block_qvel = slice(block.dofadr[0], block.dofadr[0] + 6)
        self._center = model.site("object:center").id
        self._sites: Floats = batch.bind("site_xpos")
        low, high = model.actuator_ctrlrange.T
        self._middle, self._reach = (high + low) / 2, (high - low) / 2
        self._low, self._high = low, high
        self.goals = np.zeros((batch.nsim, 7))
        super().attach(batch)

    def make_action_space(self) -> gymnasium.spaces.Box:
        return gymnasium.spaces.Box(-1.0, 1.0, (self.batch.model.nu,), np.float32)

    def make_observation_space(self) -> gymnasium.spaces.Dict:
        return gymnasium.spaces.Dict(
            {
                key: gymnasium.spaces.Box(-np.inf, np.inf, value.shape[1:], np.float64)
                for key, value in self.observe().items()
            }
        )

    def act(self, actions: NDArray[Any], ids: Ids | slice) -> None:
        fractions = np.clip(actions[ids], np.float32(-1), np.float32(1))
        controls = self._middle + fractions * self._reach
        self.ctrl[ids] = np.clip(controls, self._low, self._high)

    def reset(self, ids: Ids, randoms: Sequence[np.random.Generator]) -> None:
        # A block that falls from the hand while it settles is thrown again.
        left, random_of = ids, dict(zip(ids, randoms, strict=True))
        while len(left) > 0:
            self._throw(left, [random_of[i] for i in left])
            left = left[self._sites[left, self._center, 2] <= _PALM_HEIGHT]
        self.goals[ids] = self._draw_goals(ids, randoms)

    def _throw(self, ids: Ids, randoms: Sequence[np.random.Generator]) -> None:
        """Puts blocks at random above the hands, and lets them settle."""
        qpos = np.tile(self.batch.model.qpos0, (len(ids), 1))
        block = qpos[:, self._block]
        rotation, shift = zip(*(self._draw_start(random) for random in randoms), strict=True)
        block[:, 3:] = quaternions.multiply(block[:, 3:], np.array(rotation))
        block[:, 3:] /= np.linalg.norm(block[:, 3:], axis=1, keepdims=True)
        block[:, :3] += shift
        self.set_state(ids, qpos, np.zeros((len(ids), self.batch.model.nv)))
        self.ctrl[ids] = np.clip(self._middle, self._low, self._high)
        self.batch.step(ids, nstep=_NUM_SETTLING_STEPS * self.frame_skip)
        self.batch.forward(ids)

    def _draw_start(self, random: np.random.Generator) -> tuple[Floats, Floats]:
        """Draws the first rotation and shift of one block, in the order of gymnasium-robotics."""
        rotation = np.array([1.0, 0, 0, 0])
        if self.randomize_initial_rotation:
            rotation = self._draw_rotation(random)
        shift = np.zeros(3)
        if self.randomize_initial_position:
            shift = random.normal(size=3, scale=0.005)
        return rotation, shift

    def _draw_rotation(self, random: np.random.Generator) -> Floats:
        angle = random.uniform(-np.pi, np.pi)
        if self.target_rotation == "z":
            return quaternions.make_rotation(np.array(angle), np.array([0.0, 0, 1]))
        return quaternions.make_rotation(np.array(angle), random.uniform(-1.0, 1.0, 3))

    def _draw_goals(self, ids: Ids, randoms: Sequence[np.random.Generator]) -> Floats:
        goals = self.qpos[ids, self._block].copy()
        for goal, random in zip(goals, randoms, strict=True):
            if self.target_position == "random":
                goal[:3] += random.uniform(_POSITION_LOW, _POSITION_HIGH)
            goal[3:] = self._draw_rotation(random)
        return goals

    def observe(self) -> dict[str, Floats]:
        block = self.qpos[:, self._block]
        parts = (
            self.qpos[:, self._robot_qpos],
            self.qvel[:, self._robot_qvel],
            self.qvel[:, self._block_qvel],
            block,
        )
        return {
            "observation": np.concatenate(parts, axis=1),
            "achieved_goal": block.copy(),
            "desired_goal": self.goals.copy(),
        }

    def evaluate(self, actions: NDArray[Any]) -> tuple[Floats, Bools, dict[str, NDArray[Any]]]:
        block = self.qpos[:, self._block]
        rewards = self.compute_reward(block, self.goals)
        infos = {"is_success": self.find_reached(block, self.goals)}
        return rewards, np.zeros(len(rewards), bool), infos

    def compute_reward(
        self, achieved_goal: NDArray[Any], desired_goal: NDArray[Any], info: Any = None
    ) -> Floats:
        """Returns the rewards of poses for goals, (..., 7) each. Gymnasium's algorithms give `info`."""
        if self.reward_type == "sparse":
            return self.find_reached(achieved_goal, desired_goal) - 1.0
        distance, angle = self._find_distances(achieved_goal, desired_goal)
        return -(10.0 * distance + angle)

    def find_reached(self, achieved_goal: NDArray[Any], desired_goal: NDArray[Any]) -> Floats:
        """Returns 1 where a pose is near enough to the goal, and 0 elsewhere."""
        distance, angle = self._find_distances(achieved_goal, desired_goal)
        reached = (distance < self.distance_threshold) & (angle < self.rotation_threshold)
        return reached.astype(np.float64)

    def _find_distances(self, pose: NDArray[Any], goal: NDArray[Any]) -> tuple[Floats, Floats]:
        distance = np.linalg.norm(pose[..., :3] - goal[..., :3], axis=-1)
        if self.target_position == "ignore":
            distance = np.zeros_like(distance)
        return distance, quaternions.find_angle(pose[..., 3:], goal[..., 3:])
