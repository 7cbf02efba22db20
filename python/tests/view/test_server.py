"""Tests the server of the page: addresses, ports, foreign pages, and browsers that stall."""

from __future__ import annotations

import contextlib
import http.client
import math
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import stiction
from stiction.view.requirements import can_view, require_viewer
from stiction.view.server import is_allowed
from stiction.view.simulation import Simulation

needs_viewer = pytest.mark.skipif(not can_view(), reason="viser and mjviser are not installed")


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stiction.view.requirements.find_missing", lambda: ["viser", "mjviser"])
    with pytest.raises(stiction.Error, match=r"viser and mjviser.*pip install 'stiction\[view\]'"):
        require_viewer()


@pytest.mark.parametrize(
    ("host", "origin", "allowed"),
    [
        ("127.0.0.1:8080", None, True),  # a program, or the address typed into a browser
        ("127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("localhost:9000", "http://localhost:9000", True),  # through a tunnel of ssh
        ("[::1]:8080", "http://[::1]:8080", True),
        ("127.0.0.1:8080", "http://127.0.0.1:8081", False),
        ("127.0.0.1:8080", "http://localhost:8080", False),
        ("127.0.0.1:8080", "https://evil.example", False),
        ("127.0.0.1:8080", "null", False),  # a file, or a frame in a sandbox
        ("evil.example:8080", "http://evil.example:8080", False),  # a name that leads here
        ("evil.example:8080", None, False),
        ("", None, False),
        ("[::1", None, False),
    ],
)
def test_only_the_own_page_is_allowed(host: str, origin: str | None, allowed: bool) -> None:
    headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
    assert is_allowed("127.0.0.1", headers) is allowed


@pytest.fixture
def viewer(scene: stiction.Scene) -> Iterator[Any]:
    from stiction.view.viewer import Viewer

    with Viewer([Simulation(scene, "sap")], speed=math.inf) as viewer:
        yield viewer


@needs_viewer
def test_foreign_pages_are_refused(viewer: Any) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    port = viewer.server.get_port()
    protocol = f"viser-v{__import__('viser').__version__}"
    with connect(f"ws://127.0.0.1:{port}", subprotocols=[protocol]):
        pass
    own = f"http://127.0.0.1:{port}"
    with connect(f"ws://127.0.0.1:{port}", origin=own, subprotocols=[protocol]):
        pass
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://127.0.0.1:{port}", origin="http://evil.example", subprotocols=[protocol])
    for headers, status in (({}, 200), ({"Host": "evil.example"}, 403)):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/", headers=headers)
        assert connection.getresponse().status == status
        connection.close()


@needs_viewer
def test_the_server_is_bound_to_this_machine_alone(viewer: Any) -> None:
    assert viewer.url.startswith("http://127.0.0.1:")
    bound = viewer.server._websock_server
    assert bound._host == "127.0.0.1"


@needs_viewer
def test_a_port_in_use_and_a_foreign_host_are_refused(scene: stiction.Scene, viewer: Any) -> None:
    from stiction.view.viewer import Viewer

    port = viewer.server.get_port()
    with pytest.raises(stiction.Error, match=f"port: {port} is in use"):
        Viewer([Simulation(scene, "sap")], port=port)
    with pytest.raises(stiction.Error, match="host: cannot listen on '192.0.2.1'"):
        Viewer([Simulation(scene, "sap")], host="192.0.2.1")
    with pytest.raises(stiction.Error, match="host: 'no host' is not an address"):
        Viewer([Simulation(scene, "sap")], host="no host")


# ---- browsers that stall --------------------------------------------------------------------------


class Client:
    """A browser that says that it is there, and then reads nothing more."""

    def __init__(self, port: int) -> None:
        import msgspec
        import viser
        from websockets.sync.client import connect

        self._encode = msgspec.msgpack.encode
        # A small buffer, which is full at once.
        raw = socket.create_connection(("127.0.0.1", port))
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._connection = connect(
            f"ws://127.0.0.1:{port}",
            sock=raw,
            subprotocols=[f"viser-v{viser.__version__}"],
            max_queue=1,
            compression=None,
        )
        camera = {
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
        self._connection.send(self._encode(camera))

    def close(self) -> None:
        self._connection.socket.close()


def wait_until(is_done: Any) -> None:
    end = time.monotonic() + 20
    while not is_done():
        assert time.monotonic() < end, "timeout"
        time.sleep(0.01)


@needs_viewer
def test_nothing_is_drawn_for_a_browser_that_stalls(viewer: Any) -> None:
    viewer.runner.play()
    client = Client(viewer.server.get_port())
    wait_until(lambda: viewer.server.get_clients())
    drawn = []
    for world in viewer.worlds:
        original = world.prepare
        world.prepare = lambda *a, original=original: (drawn.append(1), original(*a))
    begin = viewer.sessions[0].frame.index
    wait_until(lambda: viewer.sessions[0].frame.index > begin + 500)
    buffer = viewer.server._websock_server.get_message_buffer()
    first = len(buffer.message_from_id)
    wait_until(lambda: viewer.sessions[0].frame.index > begin + 1000)
    assert len(drawn) <= 1
    assert len(buffer.message_from_id) <= first + 5
    client.close()


class SlowClient(Client):
    """A browser that takes a third of a second for each frame."""

    def run(self) -> None:
        import msgspec
        import zstandard

        decompress = zstandard.ZstdDecompressor().decompress
        with contextlib.suppress(Exception):
            while True:
                data = self._connection.recv()
                size = int.from_bytes(data[8:16], "little")
                content = msgspec.msgpack.decode(decompress(data[16 : 16 + size]))
                for message in content["messages"]:
                    if message["type"] == "LocalStorageGetItemRequestMessage":
                        time.sleep(0.33)
                        answer = {
                            "type": "LocalStorageGetItemResponseMessage",
                            "value": None,
                            "error": None,
                            "request_uuid": message["request_uuid"],
                        }
                        self._connection.send(self._encode(answer))


@needs_viewer
def test_a_slow_browser_gets_a_small_share_of_the_time(viewer: Any) -> None:
    viewer.runner.play()
    client = SlowClient(viewer.server.get_port())
    threading.Thread(target=client.run, daemon=True).start()
    wait_until(lambda: viewer._readers._sent > 0)
    clock = time.pthread_getcpuclockid(viewer._drawer.ident)
    sent = viewer._readers._sent
    cpu, begin = time.clock_gettime(clock), time.monotonic()
    wait_until(lambda: viewer._readers._sent >= sent + 3)
    share = (time.clock_gettime(clock) - cpu) / (time.monotonic() - begin)
    assert share < 0.02
    viewer.runner.pause()  # the simulation needs no time, so frames are limited by the browser alone
    for _ in range(3):
        sent = viewer._readers._sent
        viewer.redraw()
        wait_until(lambda sent=sent: viewer._readers._sent > sent)
    client.close()


@needs_viewer
def test_without_a_browser_nothing_is_drawn(viewer: Any) -> None:
    version = viewer._version
    viewer.runner.play()
    wait_until(lambda: viewer.sessions[0].frame.index > 500)
    assert viewer._version == version
