"""Channels with the schemas of Foxglove and ROS 2, so that other programs show a run."""

from __future__ import annotations

import struct
from typing import Any

import mujoco
import numpy as np
from mcap.writer import Writer

from stiction.binding._load import import_extra
from stiction.recording.format import Vector
from stiction.recording.foxglove_scene import (
    PatchMesh,
    make_geoms,
    make_patches,
    make_quaternion,
    make_vector,
)
from stiction.tables.record_table import Rows

FRAMES_PER_SECOND = 60.0  # of simulated time; more are not seen, and patches are large
PREFIX = "/foxglove"
TRANSFORMS, GEOMS, PATCHES = f"{PREFIX}/transforms", f"{PREFIX}/geoms", f"{PREFIX}/patches"
WRENCHES = f"{PREFIX}/wrench"  # followed by the name of the body

# The message geometry_msgs/WrenchStamped of ROS 2, in its encoding CDR.
WRENCH_NAME = "geometry_msgs/msg/WrenchStamped"
WRENCH_SCHEMA_ENCODING = "ros2msg"
WRENCH_ENCODING = "cdr"

_SEPARATOR = "=" * 80
# The definition and those that it refers to, in the form that MCAP's registry asks for.
WRENCH_SCHEMA = f"""\
std_msgs/Header header
Wrench wrench
{_SEPARATOR}
MSG: geometry_msgs/Wrench
Vector3 force
Vector3 torque
{_SEPARATOR}
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
{_SEPARATOR}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{_SEPARATOR}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""

_LITTLE_ENDIAN = b"\x00\x01\x00\x00"  # the header of CDR; alignment counts from its end


def import_messages() -> Any:
    """Imports the messages of foxglove-sdk, or raises Error."""
    return import_extra("foxglove.messages", "foxglove", "needs foxglove-sdk", "foxglove").messages


def find_frames(model: mujoco.MjModel) -> list[str]:
    """Returns the frame of each body: its name, or `body` and its id; underscores make it unique."""
    frames = [model.body(i).name for i in range(model.nbody)]
    taken = set(frames)
    for i, name in enumerate(frames):
        if not name:
            frames[i] = f"body {i}"
            while frames[i] in taken:
                frames[i] += "_"
    return frames


class FoxgloveChannels:
    """Writes poses, contact wrenches and patches into an MCAP file. Error: foxglove-sdk is missing.

    pressure_scale [Pa] has the brightest color; None takes the largest pressure so far.
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
        """Writes the poses of data, and the contacts and faces of the step from these poses."""
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
        """Writes the sum of contact forces on each body but the world; 0 once a touch ends."""
        wrenches = sum_wrenches(rows, data)
        self._pressed |= wrenches.keys() - {0}
        for body in sorted(self._pressed):
            force, torque = wrenches.get(body, (np.zeros(3), np.zeros(3)))
            rotation = data.xmat[body].reshape(3, 3)
            message = encode_wrench(
                time_ns, self._frames[body], force @ rotation, torque @ rotation
            )
            topic = f"{WRENCHES}/{self._frames[body]}"
            if topic not in self._channels:
                schema = writer.register_schema(
                    WRENCH_NAME, WRENCH_SCHEMA_ENCODING, WRENCH_SCHEMA.encode()
                )
                self._channels[topic] = writer.register_channel(topic, WRENCH_ENCODING, schema)
            writer.add_message(self._channels[topic], time_ns, message, time_ns)

    def _add(self, writer: Writer, topic: str, time_ns: int, message: Any) -> None:
        if topic not in self._channels:
            schema = type(message).get_schema()
            schema_id = writer.register_schema(schema.name, schema.encoding, schema.data)
            self._channels[topic] = writer.register_channel(topic, "protobuf", schema_id)
        writer.add_message(self._channels[topic], time_ns, message.encode(), time_ns)


def sum_wrenches(rows: Rows, data: mujoco.MjData) -> dict[int, tuple[Vector, Vector]]:
    """Returns by body the contact force [N] and its torque about the body's frame [N m], in the world."""
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


def encode_wrench(time_ns: int, frame: str, force: Vector, torque: Vector) -> bytes:
    """Returns a message: force [N] and torque [N m] in the axes of a frame, and about its origin."""
    name = frame.encode() + b"\x00"
    head = struct.pack("<iII", time_ns // 10**9, time_ns % 10**9, len(name)) + name
    head += bytes(-len(head) % 8)  # float64 are aligned
    return _LITTLE_ENDIAN + head + struct.pack("<6d", *force, *torque)
