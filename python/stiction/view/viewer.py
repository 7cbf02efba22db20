"""The page: sessions side by side, with their controls, plots and legend."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from stiction.view.arrows import add_counts
from stiction.view.layers import LiveMeshLayer
from stiction.view.layout import ASPECT, Layout, make_layout, move_back, set_stage
from stiction.view.legend import PressureScale, make_arrow_legend, make_legend
from stiction.view.palette import Style
from stiction.view.panels import CutPanel, DisplayPanel, ModelPanel, PlaybackPanel
from stiction.view.plots import Plots
from stiction.view.readers import Readers, require_viewer
from stiction.view.runner import Runner, Snapshot
from stiction.view.server import is_everywhere, start_server, stop_server
from stiction.view.session import Session, check_count
from stiction.view.simulation import Simulation, connect_drag
from stiction.view.world import World

# ---- How long the viewer rests after a frame, so that a slow browser does not slow the simulation

_SLOW = 0.15  # a browser that takes longer than this for a frame is slow [s]
# Frames for a slow browser may take this share of the time of a simulation that has none to spare;
# viser's own threads take as much again.
_SHARE = 0.008
_LONGEST = 3.0  # [s]


def calc_rest(delay: float, cost: float) -> float:
    """Returns the time to rest after a frame [s], from the browser's delay and the processor time [s]."""
    return min(cost / _SHARE, _LONGEST) if delay > _SLOW else 0.0


_PANEL_PERIOD = 0.4  # wall time between two updates of plots and controls [s]
_NAP = 0.02  # of a rest [s]
_PATIENCE = 0.2  # wall time after which to look again whether to stop [s]


class Viewer:
    """A page that shows sessions, and the threads that move and draw them.

        with Viewer([Simulation(scene, "coulomb")]) as viewer:
            print(viewer.url)
            viewer.runner.play()
            ...

    Args:
        sessions: one to six runs of the same model.
        host: address to listen on.
        port: port to listen on; 0 takes any free one.
        speed: simulated time over wall time.
        style: what is shown at first.

    Raises:
        Error: a package is missing, the address cannot be used, or there are too many sessions.
    """

    def __init__(
        self,
        sessions: Sequence[Session],
        host: str = "127.0.0.1",
        port: int = 0,
        speed: float = 1.0,
        style: Style | None = None,
    ) -> None:
        require_viewer()
        check_count(len(sessions))
        self.sessions = sessions
        self.style = replace(style) if style else Style()  # the page changes it
        self.scale = PressureScale()
        self.runner = Runner(sessions, speed)
        self.server = start_server(host, port)
        self._readers = Readers(self.server)
        try:
            self._build()
        except BaseException:
            stop_server(self.server)
            raise
        self._stopped = False
        self._drawer = threading.Thread(
            target=self._draw_forever, name="stiction-draw", daemon=True
        )
        self.runner.start()
        self._drawer.start()

    @property
    def url(self) -> str:
        """Address of the page."""
        host = self.server.get_host()
        shown = "localhost" if is_everywhere(host) else f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.server.get_port()}"

    def stop(self) -> None:
        """Ends the threads and the server."""
        self._stopped = True
        self._readers.stop()
        self.runner.stop()
        self._drawer.join()
        stop_server(self.server)

    def redraw(self) -> None:
        """Draws again, after a change of what is shown."""
        self.runner.submit(lambda: None)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _build(self) -> None:
        layout = make_layout(self.sessions[0].model, len(self.sessions))
        set_stage(self.server, layout)
        self.server.on_client_connect(lambda client: _show_all(client, layout))
        self.worlds = [
            World(self.server, session, i, layout, LiveMeshLayer)
            for i, session in enumerate(self.sessions)
        ]
        self._connect_drag()
        self._has_patches = any(world.soft_geoms for world in self.worlds)
        gui = self.server.gui
        self._playback = PlaybackPanel(self.server, self.runner)
        self._legend = gui.add_html("")
        self._arrow_legend = gui.add_html("")
        simulations = [each for each in self.sessions if isinstance(each, Simulation)]
        if simulations:
            with gui.add_folder("Model"):
                ModelPanel(self.server, self.runner, simulations)
        with gui.add_folder("Show"):
            DisplayPanel(self.server, self.style, self.scale, self._has_patches, self.redraw)
        if fields := self.worlds[0].fields:
            with gui.add_folder("Cut", expand_by_default=False):
                CutPanel(self.server, self.style, self.sessions[0].model, fields, self.redraw)
        with gui.add_folder("Plots"):
            self._plots = Plots(self.server, self.sessions)
        snapshot = self.runner.wait_for_change(-1, 0)
        self._prepare(snapshot)
        self._reveal()
        self._update_panels()

    def _connect_drag(self) -> None:
        for world, session in zip(self.worlds, self.sessions, strict=True):
            if isinstance(session, Simulation):
                world.on_new_nodes = partial(connect_drag, world, session)
                world.on_new_nodes()

    def _draw_forever(self) -> None:
        """Draws the newest frames as fast as a browser takes them, and drops the others."""
        panels_due, is_ahead = 0.0, False
        # When the last frame was sent, and the processor time that it took [s].
        sent, cost = 0.0, 0.0
        while not self._stopped:
            if not self._readers.wait(_PATIENCE):
                continue
            if rest := calc_rest(time.perf_counter() - sent, cost):
                self._rest(sent + rest)
            snapshot = self.runner.wait_for_change(self._version, 0 if is_ahead else _PATIENCE)
            is_new = snapshot.version > self._version
            if not is_new and not is_ahead:
                self._complete_plots()
                continue
            begin = time.thread_time()
            with self.server.atomic():
                if is_ahead:
                    self._reveal()
                if is_new:
                    self._prepare(snapshot)
            is_ahead = is_new
            if time.perf_counter() >= panels_due or not (is_new and self.runner.is_playing):
                self._update_panels()
                panels_due = time.perf_counter() + _PANEL_PERIOD
            self.server.flush()
            sent, cost = time.perf_counter(), time.thread_time() - begin
            self._readers.note_sent()

    def _complete_plots(self) -> None:
        """Adds points to plots that lack some, while there is nothing else to draw."""
        if not self._plots.is_complete:
            self._plots.update()
            self._readers.note_sent()

    def _rest(self, until: float) -> None:
        """Waits until a wall time [s], unless the simulation has time to wait for this thread."""
        while time.perf_counter() < until and not self.runner.has_time and not self._stopped:
            time.sleep(_NAP)

    def _prepare(self, snapshot: Snapshot) -> None:
        self._version = snapshot.version
        for world, frame in zip(self.worlds, snapshot.frames, strict=True):
            world.prepare(frame, self.style, self.scale)

    def _reveal(self) -> None:
        for world, session in zip(self.worlds, self.sessions, strict=True):
            world.reveal(session.name, self.style)
        self._legend.content = make_legend(
            pressure=self.scale.top if self._has_patches and self.scale.is_known else None,
            cut=self.worlds[0].cut_top,
            with_points=self.style.points,
        )

    def _update_panels(self) -> None:
        counts = [world.arrow_counts for world in self.worlds]
        self._arrow_legend.content = make_arrow_legend(
            {name: add_counts(each[name] for each in counts) for name in counts[0]}
        )
        self._playback.update()
        self._plots.update()


def _show_all(client: Any, layout: Layout) -> None:
    """Moves the camera of a new page back if its window is too narrow for all scenes."""
    if client.camera.aspect < ASPECT:
        with client.atomic():  # a new position moves the point that the camera looks at, too
            client.camera.position = tuple(move_back(layout, client.camera.aspect))
            client.camera.look_at = tuple(layout.look_at)
