"""Misuse, threads, forks and signals give errors or right results, never a crash or a hang.

Each case runs in a process of its own, whose end is judged.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import stiction

SCENE = """
import copy, gc, os, pickle, signal, sys, threading, time
import mujoco, numpy as np, stiction

def make_model(columns=6, rows=3):
    bodies = "".join(
        f'<body pos="{c} {0.01 * r} {0.0999 + 0.2 * r}"><freejoint/>'
        '<geom type="box" size=".1 .1 .1"/></body>'
        for c in range(columns) for r in range(rows))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>')

def state(data):
    out = np.empty(mujoco.mj_stateSize(data.model, mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_getState(data.model, data, out, mujoco.mjtState.mjSTATE_INTEGRATION)
    return out.tobytes()

model = make_model(); data = mujoco.MjData(model)
def fails(f, part):
    try: f()
    except Exception as e: assert part in str(e), e
    else: raise AssertionError("no error")
"""


def run(code: str, *arguments: str, timeout: float = 60) -> str:
    """Runs code after SCENE in a new process, and returns its output."""
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", SCENE + textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_a_simulator_keeps_its_model_alive():
    run("""
        sims = []
        for kind in (stiction.Simulator,):
            sims.append(kind(make_model(20)))
        fails(lambda: setattr(sims[0], "model", model), "setter")
        steppers = [sim._stepper for sim in sims]   # even the inner object alone is enough
        data = mujoco.MjData(sims[0].model)
        sims.clear(); gc.collect()
        junk = [make_model(30) for _ in range(5)]
        steppers[0].step(None, data, 3)
    """)


@pytest.mark.slow
def test_surfaces_and_forces_keep_their_model_alive_and_refuse_other_data():
    run("""
        soft = {"materials": {"soft": {"hydroelastic_modulus": 1e5}, "hard": {"rigid": True}},
                "geoms": {"*": "soft", "floor": "hard"}}
        for kind, call in ((stiction.ContactSurfaces, "calc"),
                           (stiction.ContinuousDynamics, "calc_forces"),
                           (stiction.ContinuousDynamics, "calc_acceleration")):
            made = kind(make_model(4), properties=soft)
            fails(lambda: setattr(made, "model", model), "setter")
            gc.collect(); junk = [make_model(30) for _ in range(5)]
            own = mujoco.MjData(made.model); mujoco.mj_forward(made.model, own)
            getattr(made, call)(own)
            other = make_model(1)
            fails(lambda: getattr(made, call)(mujoco.MjData(other)), "another model")
    """)


@pytest.mark.slow
def test_a_call_from_a_callback_of_its_own_step_is_refused():
    run("""
        sim = stiction.Simulator(model); other = stiction.Simulator(model)
        inner = mujoco.MjData(model); data.ctrl[:] = 0
        sim.step(data); other.step(data)
        calls = [lambda: sim.step(inner), sim.calc_hessian, sim.calc_condition_number, sim.get_state,
                 lambda: sim.set_state(b"")]
        def callback(m, d):
            mujoco.set_mjcb_control(None)  # the inner steps must not call it again
            for call in calls: fails(call, "callback")
            other.step(inner)              # another simulator is fine
            seen.append(1)
        seen = []
        mujoco.set_mjcb_control(callback)
        sim.step(data)
        assert seen == [1]
        sim.step(data)
    """)


@pytest.mark.slow
def test_threads_that_share_a_simulator_wait_for_each_other():
    run("""
        sim = stiction.Simulator(model, num_threads=2)
        reference = mujoco.MjData(model); stiction.Simulator(model).step(reference, 200)
        mujoco.set_mjcb_control(lambda m, d: time.sleep(1e-4))  # gives the GIL away within a step
        sim.step(mujoco.MjData(model))
        ends = []
        def work():
            d = mujoco.MjData(model); sim.step(d, 200); ends.append(state(d))
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads: t.start()
        for _ in range(50): sim.calc_hessian(); sim.get_state()
        for t in threads: t.join()
        assert ends == [state(reference)] * 3
    """)


@pytest.mark.slow
def test_simulators_that_step_each_other_do_not_wait_for_ever():
    run("""
        a, b = stiction.Simulator(model), stiction.Simulator(model)
        depth = threading.local()
        refused = []
        def callback(m, d):
            if getattr(depth, "inside", False): return
            depth.inside = True
            time.sleep(1e-4)
            try: depth.other.step(mujoco.MjData(model))
            except stiction.Error as e: refused.append(str(e))
            finally: depth.inside = False
        mujoco.set_mjcb_control(callback)
        def work(sim, other):
            depth.other = other; d = mujoco.MjData(model)
            for _ in range(100): sim.step(d)
        threads = [threading.Thread(target=work, args=p) for p in ((a, b), (b, a))]
        for t in threads: t.start()
        for t in threads: t.join()
        assert refused and all("another Simulator" in text for text in refused), refused[:1]
    """)


@pytest.mark.slow
def test_a_limit_of_threads_is_an_error():
    run("""
        import resource
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        if os.geteuid() == 0: os.setuid(65534)  # the limit does not apply to root
        fails(lambda: stiction.Simulator(model, num_threads=16), "num_threads: is 16")
        stiction.Simulator(model).step(data)
    """)


@pytest.mark.slow
@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_simulator_steps_in_the_child_of_a_fork(num_threads: int):
    run(
        """
        sim = stiction.Simulator(model, num_threads=int(sys.argv[1]))
        sim.step(data, 20)
        reference = mujoco.MjData(model); other = stiction.Simulator(model); other.step(reference, 60)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            sim.step(data, 40)
            os._exit(0 if state(data) == state(reference) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        sim.step(data, 40)
        assert state(data) == state(reference)
        """,
        str(num_threads),
    )


@pytest.mark.slow
def test_a_fork_during_a_step_of_another_thread_leaves_an_error():
    run("""
        sim = stiction.Simulator(model, num_threads=2)
        inside = threading.Event(); go_on = threading.Event()
        def callback(m, d):
            inside.set(); go_on.wait(10)
        mujoco.set_mjcb_control(callback)
        thread = threading.Thread(target=sim.step, args=(data,)); thread.start()
        inside.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20); mujoco.set_mjcb_control(None)
            d = mujoco.MjData(model)
            fails(lambda: sim.step(d), "forked")
            stiction.Simulator(model, num_threads=2).step(d, 5)
            os._exit(0)
        go_on.set(); thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """)


@pytest.mark.slow
def test_multiprocessing_by_fork_and_by_spawn(tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(
        SCENE
        + textwrap.dedent("""
        import multiprocessing
        sim = stiction.Simulator(model, num_threads=2)
        sim.step(data, 5)
        def work(speed):
            d = mujoco.MjData(sim.model); d.qvel[0] = speed
            return sim.step(d, 30), state(d)
        def work_with(given):
            global sim
            sim, speed = given
            return work(speed)
        if __name__ == "__main__":
            speeds = [0.0, 0.5, 1.0, 1.5]
            expected = [work(s) for s in speeds]
            for method, f, given in (("fork", work, speeds),
                                     ("spawn", work_with, [(sim, s) for s in speeds])):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    for (report, end), (r, e) in zip(pool.map(f, given), expected):
                        assert end == e
                        assert np.array_equal(report.contacts.impulse, r.contacts.impulse)
                try:
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        pool.apply(sim.set_state, (b"12345678",))
                    raise AssertionError("no error")
                except stiction.Error as error:  # errors cross the border, too
                    assert error.where == "state"
    """)
    )
    result = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_ctrl_c_ends_a_call_of_many_steps_after_a_whole_step():
    run("""
        sim = stiction.Simulator(model, num_threads=2)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.time()
        try: sim.step(data, 10_000_000)
        except KeyboardInterrupt: pass
        else: raise AssertionError("not interrupted")
        assert time.time() - start < 20
        steps = round(data.time / model.opt.timestep)
        again = mujoco.MjData(model); stiction.Simulator(model).step(again, steps)
        assert state(again) == state(data)
    """)


def test_ctrl_c_ends_a_long_step_and_leaves_its_data():
    run("""
        tower = make_model(1, 90)  # its first step takes many seconds
        sim = stiction.Simulator(tower, "stewart_trinkle"); d = mujoco.MjData(tower)
        before, start = state(d), time.time()
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try: sim.step(d)
        except KeyboardInterrupt: pass
        else: raise AssertionError(f"not interrupted in {time.time() - start} s")
        assert state(d) == before and d.time == 0
    """)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_end_commands_with_whole_files_and_their_exit_code(tmp_path, number, code):
    scene = tmp_path / "ball.xml"
    scene.write_text(
        "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 .2'><freejoint/>"
        "<geom size='.1'/></body></worldbody></mujoco>"
    )
    recording = tmp_path / "run.mcap"
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "stiction", "run", str(scene), "--duration", "1000s",
         "--record", str(recording)],
        stdout=subprocess.DEVNULL, stderr=slave,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    os.close(slave)
    deadline = time.time() + 60
    while time.time() < deadline and not (
        recording.exists() and recording.stat().st_size > 100_000
    ):
        time.sleep(0.05)
    process.send_signal(number)
    terminal = b""
    try:
        while chunk := os.read(master, 4096):
            terminal += chunk
    except OSError:  # the process has closed its end
        pass
    assert process.wait(timeout=60) == code, terminal[-300:]
    shown, hidden = terminal.rfind(b"\x1b[?25h"), terminal.rfind(b"\x1b[?25l")
    assert shown >= hidden, "the cursor stays hidden"
    found = stiction.Recording(recording)
    assert len(found) > 0 and found.damage is None


@pytest.mark.slow
def test_a_closed_terminal_leaves_a_whole_recording(tmp_path):
    """The end of an ssh connection closes the terminal: SIGHUP comes, and writing to it fails."""
    scene, recording = tmp_path / "ball.xml", tmp_path / "run.mcap"
    scene.write_text(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c",
         "import fcntl, sys, termios; fcntl.ioctl(2, termios.TIOCSCTTY, 0);"
         "import stiction.cli; stiction.cli.main()",
         "run", str(scene), "--duration", "1000s", "--record", str(recording)],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    deadline = time.time() + 60
    while time.time() < deadline and not (
        recording.exists() and recording.stat().st_size > 100_000
    ):
        os.read(master, 4096)
    os.close(master)
    assert process.wait(timeout=60) == 129
    found = stiction.Recording(recording)
    assert len(found) > 0
    assert found.damage is None
