"""Clients of the viewer's server that behave as browsers do, for tests and measurements.

client = RawClient(port)            # is there, and reads nothing
client = SlowClient(port, 0.33)     # takes a third of a second for each frame
client.close()
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Any

import msgspec
import viser
import zstandard
from websockets.sync.client import connect

_CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (0.0, 0.0, 1.0),
    "fov": 1.0,
    "near": 0.01,
    "far": 100.0,
    "image_height": 300,
    "image_width": 400,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}
_HEADER = 16  # bytes before the compressed content of a message; the last 8 are its length


class RawClient:
    """A browser that says that it is there, and then reads nothing more.

    Args:
        port: port of the server on this machine.
    """

    def __init__(self, port: int) -> None:
        # A small buffer, which is full at once.
        raw = socket.create_connection(("127.0.0.1", port))
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.connection = connect(
            f"ws://127.0.0.1:{port}",
            sock=raw,
            subprotocols=[find_protocol()],
            max_queue=1,
            compression=None,
        )
        self.send(_CAMERA)

    def send(self, message: dict[str, Any]) -> None:
        """Sends a message of viser's client."""
        self.connection.send(msgspec.msgpack.encode(message))

    def close(self) -> None:
        """Closes the connection without a farewell, as a browser that is killed."""
        self.connection.socket.close()


class SlowClient(RawClient):
    """A browser that takes a while for each frame. It reads in a thread of its own.

    Args:
        port: port of the server on this machine.
        delay: time for each frame [s].
    """

    def __init__(self, port: int, delay: float) -> None:
        super().__init__(port)
        self._delay = delay
        threading.Thread(target=self._read, daemon=True).start()

    def close(self) -> None:
        """Closes the connection, as a browser whose page is closed."""
        self.connection.close()

    def _read(self) -> None:
        decompress = zstandard.ZstdDecompressor().decompress
        with contextlib.suppress(Exception):  # it is closed
            while True:
                data = self.connection.recv()
                size = int.from_bytes(data[8:_HEADER], "little")
                content = msgspec.msgpack.decode(decompress(data[_HEADER : _HEADER + size]))
                for message in content["messages"]:
                    if message["type"] == "LocalStorageGetItemRequestMessage":
                        self._take_frame(message["request_uuid"])

    def _take_frame(self, request: str) -> None:
        """Answers the question that follows each frame; see stiction.view.readers."""
        time.sleep(self._delay)
        answer = {"value": None, "error": None, "request_uuid": request}
        self.send({"type": "LocalStorageGetItemResponseMessage", **answer})


def find_protocol() -> str:
    """Returns the name of the protocol that viser's client of this version asks for."""
    return f"viser-v{viser.__version__}"
