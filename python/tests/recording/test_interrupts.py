"""Tests DeferredInterrupt, which delays Ctrl-C to the end of its context."""

from __future__ import annotations

import signal
import threading

import mujoco
import pytest

import stiction
from stiction.binding.interrupts import DeferredInterrupt
from stiction.recording import writer


def test_interrupt_is_raised_at_the_end_of_the_context():
    done = []

    def work() -> None:
        with DeferredInterrupt():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_that_was_taken_is_not_raised():
    with DeferredInterrupt() as interrupt:
        assert not interrupt.take()
        signal.raise_signal(signal.SIGINT)
        assert interrupt.take()
        assert not interrupt.take()


def test_an_inner_context_passes_the_interrupt_to_the_outer():
    with DeferredInterrupt() as outer:
        with DeferredInterrupt():
            signal.raise_signal(signal.SIGINT)
            assert not outer.take()
        assert outer.take()


def test_recorder_works_in_another_thread(scenes, tmp_path):
    def record() -> None:
        model = mujoco.MjModel.from_xml_string(scenes["pile"])
        with stiction.Recorder(tmp_path / "a.mcap", stiction.Simulator(model)) as recorder:
            recorder.step(mujoco.MjData(model), 10)

    thread = threading.Thread(target=record)
    thread.start()
    thread.join()
    assert len(stiction.Recording(tmp_path / "a.mcap")) == 10


def test_an_interrupt_during_the_writing_of_a_record_leaves_a_whole_recording(
    scenes, tmp_path, monkeypatch
):
    model = mujoco.MjModel.from_xml_string(scenes["pile"])
    data = mujoco.MjData(model)
    real_pack = writer.pack_contacts

    def pack_and_interrupt(contacts: stiction.ContactReport) -> bytes:
        signal.raise_signal(signal.SIGINT)
        return real_pack(contacts)

    with stiction.Recorder(tmp_path / "a.mcap", stiction.Simulator(model)) as recorder:
        while recorder.step(data).statistics.num_contacts == 0:
            pass
        monkeypatch.setattr(writer, "pack_contacts", pack_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            recorder.step(data, 100)
        num_steps = recorder.num_steps
    recording = stiction.Recording(tmp_path / "a.mcap")
    assert recording.damage is None
    assert len(recording) == num_steps
