"""The server of the page: bound to one address, and refusing pages of other sites; or serving nobody."""

from __future__ import annotations

import contextlib
import errno
import functools
import http
import io
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from stiction.errors import Error

_PATCHING = threading.Lock()


def start_server(host: str, port: int) -> Any:
    """Starts a viser.ViserServer at a host and port, 0 for any free one, or raises Error."""
    import viser
    from viser import _messages

    listener = _listen(host, port)
    # viser prints a greeting, which would mix with the output of the command.
    with _serving_at(listener, host), contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=port, label="Stiction", verbose=False)
    # viser can open a tunnel at the request of a page. It would show the page to the whole internet.
    server._websock_server.unregister_handler(_messages.ShareUrlRequest)
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
    server.gui.main_panel.dock_right()
    return server


def start_writer() -> Any:
    """Returns a viser.ViserServer that records a page for a file. It opens no port, and serves nobody."""
    import viser

    def serve(*_: Any, **_options: Any) -> Any:
        # viser asks for the sockets of the server that it has started.
        return contextlib.nullcontext(SimpleNamespace(server=SimpleNamespace(sockets=())))

    with _serving_with(serve), contextlib.redirect_stdout(io.StringIO()):
        return viser.ViserServer(host="127.0.0.1", port=0, verbose=False)


def stop_server(server: Any) -> None:
    """Stops a viser.ViserServer, which would print a farewell."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def is_allowed(host: str, headers: Any) -> bool:
    """True if a request comes from a page of this server, or from a program other than a browser.

    A browser sends the origin of the page. It must be the address under which the server was asked,
    and this must be an address, `localhost`, or a name of this machine. So neither a foreign page nor
    a foreign name that leads here (DNS rebinding) has access.
    """
    asked = headers.get("Host", "")
    try:
        name = urlsplit(f"//{asked}").hostname or ""
    except ValueError:
        return False
    if not (_is_address(name) or name in ("localhost", host.lower(), *_list_own_names())):
        return False
    origin = headers.get("Origin")
    return origin is None or origin in (f"http://{asked}", f"https://{asked}")


def is_everywhere(host: str) -> bool:
    """True if a host stands for all addresses of the machine, as 0.0.0.0 and :: do."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def is_local(host: str) -> bool:
    """True if only programs of this machine reach a host, as they reach 127.0.0.1 and localhost."""
    address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][4][0]
    return ipaddress.ip_address(address).is_loopback


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@functools.cache
def _list_own_names() -> tuple[str, str]:
    return socket.gethostname().lower(), socket.getfqdn().lower()


def _listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens. viser's own would silently take another port than the one asked.

    All addresses of IPv6 include those of IPv4, as in other servers. asyncio would leave these out.
    """
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        both = family == socket.AF_INET6 and is_everywhere(host) and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, dualstack_ipv6=both)
    except socket.gaierror as e:
        raise Error(
            "invalid_value",
            "host",
            f"'{host}' is not an address: {e.strerror}; take 127.0.0.1, the name or an "
            "address of this machine, or 0.0.0.0 (with IPv6: ::) for all its addresses",
        ) from e
    except OSError as e:
        if e.errno == errno.EADDRINUSE:
            raise _make_port_error(port) from e
        raise Error(
            "invalid_value",
            "host",
            f"cannot listen on '{host}', port {port}: {e.strerror}; "
            "take an address of this machine and a port above 1023",
        ) from e


def _make_port_error(port: int) -> Error:
    return Error(
        "invalid_value",
        "port",
        f"{port} is in use, perhaps by another viewer; choose another (--port), or 0 for any free one",
    )


def _serving_at(listener: socket.socket, host: str) -> AbstractContextManager[None]:
    """A context in which a server of websockets uses a socket, and refuses what is_allowed refuses."""
    from websockets.asyncio.server import serve as original

    def serve(
        handler: Any, _host: str, _port: int, process_request: Any = None, **options: Any
    ) -> Any:
        def process(connection: Any, request: Any) -> Any:
            if not is_allowed(host, request.headers):
                return connection.respond(
                    http.HTTPStatus.FORBIDDEN,
                    "This viewer serves only its own page. Open the address that it has printed.\n",
                )
            return process_request(connection, request) if process_request else None

        return original(handler, sock=listener, process_request=process, **options)

    return _serving_with(serve)


@contextlib.contextmanager
def _serving_with(serve: Callable[..., Any]) -> Iterator[None]:
    """A context in which viser starts its server by a function.

    viser has no option for this. It looks up `serve` when it starts, so it takes this one.
    """
    import websockets.asyncio.server as websockets

    with _PATCHING:
        original = websockets.serve
        websockets.serve = serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            websockets.serve = original  # type: ignore[misc]
