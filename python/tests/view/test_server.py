"""Tests the server of the page: addresses, ports, foreign pages, and browsers that stall."""

from __future__ import annotations

import http.client
import math
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stiction
from stiction.view.readers import can_view, require_viewer
from stiction.view.server import is_allowed, is_everywhere, is_local
from stiction.view.simulation import Simulation
from stiction.view.viewer import calc_rest

needs_viewer = pytest.mark.skipif(not can_view(), reason="viser and mjviser are not installed")


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stiction.view.readers.find_missing", lambda: ["viser", "mjviser"])
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
    from viewer_client import find_protocol
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    port = viewer.server.get_port()
    protocol = find_protocol()
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
@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_all_addresses_of_ipv6_include_those_of_ipv4(scene: stiction.Scene) -> None:
    from viewer_client import find_protocol
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    from stiction.view.viewer import Viewer

    with Viewer([Simulation(scene, "sap")], host="::") as viewer:
        port = viewer.server.get_port()
        assert viewer.url == f"http://localhost:{port}"
        for host, name in (("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")):
            own = f"{name}:{port}"
            for asked, status in ((own, 200), ("evil.example", 403), (f"evil.example:{port}", 403)):
                connection = http.client.HTTPConnection(host, port)
                connection.request("GET", "/", headers={"Host": asked})
                assert connection.getresponse().status == status
                connection.close()
            with connect(f"ws://{own}", origin=f"http://{own}", subprotocols=[find_protocol()]):
                pass
            for origin in ("http://evil.example", "null", f"http://localhost:{port}"):
                with pytest.raises(InvalidStatus, match="403"):
                    connect(f"ws://{own}", origin=origin, subprotocols=[find_protocol()])
        with pytest.raises(stiction.Error, match=f"port: {port} is in use"):
            Viewer([Simulation(scene, "sap")], host="::", port=port)


@pytest.mark.parametrize(
    ("host", "everywhere"),
    [("0.0.0.0", True), ("::", True), ("0::0", True), ("127.0.0.1", False), ("localhost", False)],
)
def test_all_addresses_are_known_by_any_of_their_names(host: str, everywhere: bool) -> None:
    assert is_everywhere(host) is everywhere


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
    ],
)
def test_hosts_that_others_reach_are_known(host: str, local: bool) -> None:
    assert is_local(host) is local


@needs_viewer
def test_writing_a_page_opens_no_port(
    scene: stiction.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stiction.view.film import film_sessions
    from stiction.view.page import make_page

    films = film_sessions([Simulation(scene, "sap")], 0.1)
    monkeypatch.setattr(socket.socket, "listen", lambda *_: pytest.fail("a port was opened"))
    assert "__VISER_EMBED_DATA__" in make_page(films, title="a page")


def test_only_the_guarded_server_is_started() -> None:
    """Each server of viser listens and obeys any page, unless view/server.py starts it."""
    package = Path(stiction.__file__).parent
    starters = [path for path in package.rglob("*.py") if "ViserServer(" in path.read_text()]
    assert starters == [package / "view" / "server.py"]


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


def wait_until(is_done: Any) -> None:
    end = time.monotonic() + 20
    while not is_done():
        assert time.monotonic() < end, "timeout"
        time.sleep(0.01)


@needs_viewer
def test_nothing_is_drawn_for_a_browser_that_stalls(viewer: Any) -> None:
    from viewer_client import RawClient

    viewer.runner.play()
    client = RawClient(viewer.server.get_port())
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


@needs_viewer
def test_the_simulation_goes_on_while_a_frame_is_drawn(viewer: Any) -> None:
    """Nothing that draws, or sends to browsers, can hold up the thread of the simulation."""
    from viewer_client import SlowClient

    is_drawing, may_go_on = threading.Event(), threading.Event()
    original = viewer.worlds[0].prepare

    def draw(*arguments: Any) -> None:
        is_drawing.set()
        may_go_on.wait(20)
        original(*arguments)

    viewer.worlds[0].prepare = draw
    viewer.runner.play()
    client = SlowClient(viewer.server.get_port(), delay=0.0)
    assert is_drawing.wait(20)
    begin = viewer.sessions[0].frame.index
    wait_until(lambda: viewer.sessions[0].frame.index > begin + 500)
    assert not may_go_on.is_set()
    may_go_on.set()
    client.close()


@pytest.mark.parametrize(
    ("delay", "cost", "rest"),
    [
        (0.1, 5e-3, 0.0),  # a fast browser
        (0.2, 5e-3, 0.625),
        (1.0, 5e-3, 0.625),
        (0.2, 0.1, 3.0),  # a picture must not become too old
        (60.0, 0.0, 0.0),
    ],
)
def test_frames_for_a_slow_browser_take_a_small_share_of_the_time(
    delay: float, cost: float, rest: float
) -> None:
    assert calc_rest(delay, cost) == pytest.approx(rest)
    assert rest in (0.0, 3.0) or cost / rest < 0.01  # viser's threads take as much again


@pytest.mark.slow
@needs_viewer
def test_drawing_rests_after_each_frame_for_a_slow_browser(viewer: Any) -> None:
    from viewer_client import SlowClient

    rests: list[float] = []
    viewer._rest = lambda until: rests.append(until - time.perf_counter())
    viewer.runner.play()
    client = SlowClient(viewer.server.get_port(), delay=0.2)
    wait_until(lambda: len(rests) >= 3)
    assert max(rests) > 0
    client.close()


@needs_viewer
def test_a_rest_ends_as_soon_as_the_simulation_has_time(viewer: Any) -> None:
    viewer.runner.play()
    wait_until(lambda: not viewer.runner.has_time)
    long = time.perf_counter() + 1000
    resting = threading.Thread(target=viewer._rest, args=(long,), daemon=True)
    resting.start()
    resting.join(0.2)
    assert resting.is_alive()
    viewer.runner.pause()
    resting.join(20)
    assert not resting.is_alive()


@needs_viewer
def test_without_a_browser_nothing_is_drawn(viewer: Any) -> None:
    version = viewer._version
    viewer.runner.play()
    wait_until(lambda: viewer.sessions[0].frame.index > 500)
    assert viewer._version == version
