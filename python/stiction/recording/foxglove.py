"""Channels with the schemas of Foxglove and ROS 2, so that other programs show a run."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from mcap.writer import Writer

from stiction.binding.extras import import_extra
from stiction.recording import ros2_wrench
from stiction.recording.format import Vector
from stiction.recording.foxglove_geoms import make_geoms, make_quaternion, make_vector
from stiction.recording.foxglove_patches import PatchMesh, make_patches
from stiction.tables.record_table import Rows

FRAMES_PER_SECOND = 60.0  # of simulated time; more are not seen, and patches are large
PREFIX = "/foxglove"
TRANSFORMS, GEOMS, PATCHES = f"{PREFIX}/transforms", f"{PREFIX}/geoms", f"{PREFIX}/patches"
WRENCHES = f"{PREFIX}/wrench"  # followed by the name of the body


def import_messages() -> Any:
    """Imports the messages of foxglove-sdk.

    Raises:
        Error: it is not installed.
    """
    return import_extra("foxglove.messages", "foxglove", "needs foxglove-sdk", "foxglove").messages


def find_frames(model: mujoco.MjModel) -> list[str]:
    """Returns the name of the frame of each body; a body without a name has `body` and its id.

    If another body has this name, it ends in an underscore or more.
    """
    frames = [model.body(i).name for i in range(model.nbody)]
    taken = set(frames)
    for i, name in enumerate(frames):
        if not name:
            frames[i] = f"body {i}"
            while frames[i] in taken:
                frames[i] += "_"
    return frames


class FoxgloveChannels:
    """Writes poses, contact wrenches and patches into an MCAP file.

    Args:
        model: the scene.
        pressure_scale: the pressure with the brightest color [Pa]; None takes the largest so far.

    Raises:
        Error: foxglove-sdk is not installed.
    """

    def __init__(self, model: mujoco.MjModel, pressure_scale: float | None = None) -> None:
        self._fox = import_messages()
        self._model = model
        self._frames = find_frames(model)
        self._channels: dict[str, int] = {}
        self._pressed: set[int] = set()  # the bodies with a channel of wrenches
        self._next_frame = 0
        self._fixed_scale = pressure_scale
        self._scale = 0.0

    def wants(self, time_ns: int) -> bool:
        """True if a frame is due at this time."""
        return time_ns * FRAMES_PER_SECOND >= self._next_frame * 1e9

    def write(
        self, writer: Writer, time_ns: int, data: mujoco.MjData, rows: Rows, mesh: PatchMesh
    ) -> None:
        """Writes one frame.

        Args:
            writer: the file.
            time_ns: time of the poses [ns].
            data: with the poses of the bodies.
            rows: the contacts of the step from these poses, as rows of contact_table.DTYPE.
            mesh: the faces of its patches.
        """
        if not self._channels:
            geoms = make_geoms(self._fox, self._model, self._frames)
            self._add(writer, GEOMS, time_ns, geoms)
        self._add(writer, TRANSFORMS, time_ns, self._make_transforms(time_ns, data))
        if mesh.pressure.size:
            self._scale = max(self._scale, float(mesh.pressure.max()))
        scale = self._scale if self._fixed_scale is None else self._fixed_scale
        self._add(writer, PATCHES, time_ns, make_patches(self._fox, time_ns, mesh, scale))
        self._write_wrenches(writer, time_ns, data, rows)
        self._next_frame = int(time_ns * FRAMES_PER_SECOND / 1e9 + 1e-6) + 1

    def _make_transforms(self, time_ns: int, data: mujoco.MjData) -> Any:
        """Returns the poses of all bodies, so that a viewer may start anywhere."""
        fox = self._fox
        stamp = fox.Timestamp(sec=time_ns // 10**9, nsec=time_ns % 10**9)
        transforms = []
        for body in range(1, self._model.nbody):
            transforms.append(
                fox.FrameTransform(
                    timestamp=stamp,
                    parent_frame_id=self._frames[0],
                    child_frame_id=self._frames[body],
                    translation=make_vector(fox, data.xpos[body]),
                    rotation=make_quaternion(fox, data.xquat[body]),
                )
            )
        return fox.FrameTransforms(transforms=transforms)

    def _write_wrenches(
        self, writer: Writer, time_ns: int, data: mujoco.MjData, rows: Rows
    ) -> None:
        """Writes the sum of the contact forces on each body but the world, in its own frame.

        A body that is not touched any more has a wrench of 0.
        """
        wrenches = sum_wrenches(rows, data)
        self._pressed |= wrenches.keys() - {0}
        for body in sorted(self._pressed):
            force, torque = wrenches.get(body, (np.zeros(3), np.zeros(3)))
            rotation = data.xmat[body].reshape(3, 3)
            message = ros2_wrench.encode_wrench(
                time_ns, self._frames[body], force @ rotation, torque @ rotation
            )
            topic = f"{WRENCHES}/{self._frames[body]}"
            if topic not in self._channels:
                schema = writer.register_schema(
                    ros2_wrench.SCHEMA_NAME,
                    ros2_wrench.SCHEMA_ENCODING,
                    ros2_wrench.SCHEMA.encode(),
                )
                self._channels[topic] = writer.register_channel(
                    topic, ros2_wrench.MESSAGE_ENCODING, schema
                )
            writer.add_message(self._channels[topic], time_ns, message, time_ns)

    def _add(self, writer: Writer, topic: str, time_ns: int, message: Any) -> None:
        if topic not in self._channels:
            schema = type(message).get_schema()
            schema_id = writer.register_schema(schema.name, schema.encoding, schema.data)
            self._channels[topic] = writer.register_channel(topic, "protobuf", schema_id)
        writer.add_message(self._channels[topic], time_ns, message.encode(), time_ns)


def sum_wrenches(rows: Rows, data: mujoco.MjData) -> dict[int, tuple[Vector, Vector]]:
    """Returns the contact force and torque on each touched body, in the world.

    Args:
        rows: contacts, as rows of contact_table.DTYPE.
        data: with the poses of the bodies.

    Returns:
        By id of the body, the force [N] and the torque about the origin of its frame [N m].
    """
    wrenches: dict[int, tuple[Vector, Vector]] = {}
    own_torque = np.nan_to_num(rows["torque"])  # unknown in recordings of format 1
    for side, sign in ((0, -1.0), (1, 1.0)):
        bodies = rows["bodies"][:, side]
        for body in map(int, np.unique(bodies)):
            mine = bodies == body
            force = sign * rows["force"][mine]
            arm = rows["position"][mine] - data.xpos[body]
            torque = np.cross(arm, force) + sign * own_torque[mine]
            old = wrenches.get(body, (np.zeros(3), np.zeros(3)))
            wrenches[body] = (old[0] + force.sum(axis=0), old[1] + torque.sum(axis=0))
    return wrenches
