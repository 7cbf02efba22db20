"""The message geometry_msgs/WrenchStamped of ROS 2, in its encoding CDR."""

from __future__ import annotations

import struct

from stiction.recording.format import Vector

SCHEMA_NAME = "geometry_msgs/msg/WrenchStamped"
SCHEMA_ENCODING = "ros2msg"
MESSAGE_ENCODING = "cdr"

_SEPARATOR = "=" * 80
# The definition and those that it refers to, in the form that MCAP's registry asks for.
SCHEMA = f"""\
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


def encode_wrench(time_ns: int, frame: str, force: Vector, torque: Vector) -> bytes:
    """Returns a message.

    Args:
        time_ns: time of the wrench [ns].
        frame: name of the frame in whose axes, and about whose origin, it is given.
        force: [N], (3,).
        torque: [N m], (3,).
    """
    name = frame.encode() + b"\x00"
    head = struct.pack("<iII", time_ns // 10**9, time_ns % 10**9, len(name)) + name
    head += bytes(-len(head) % 8)  # float64 are aligned
    return _LITTLE_ENDIAN + head + struct.pack("<6d", *force, *torque)
