"""Commands, beside wait4(2) as Python's own library calls it."""

import os
import signal
import subprocess
import sys
import time

import pytest

import whit

SPIN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def test_a_command_has_its_account():
    before = os.times()
    ran = whit.run([sys.executable, "-c", SPIN])
    after = os.times()
    assert (ran["exit_status"], ran["signal"]) == (0, None)
    used = (ran["user_ns"] + ran["system_ns"]) / 1e9
    # What the kernel counts for the children of this process, which it gives in hundredths.
    counted = after.children_user + after.children_system - before.children_user - before.children_system
    assert used == pytest.approx(counted, abs=0.021)
    assert used >= 0.3 and ran["wall_ns"] >= ran["account"]["on_cpu_ns"] >= 250_000_000
    assert ran["peak_resident_bytes"] > 1 << 20


def test_a_child_of_a_command_is_counted():
    ran = whit.run(["sh", "-c", f"{sys.executable} -c '{SPIN}'; exit 3"])
    assert ran["exit_status"] == 3 and ran["user_ns"] + ran["system_ns"] >= 300_000_000
    # The shell itself has only waited.
    assert ran["account"]["on_cpu_ns"] < 200_000_000


def test_a_command_that_is_killed_has_its_signal():
    ran = whit.run(["sh", "-c", "kill -TERM $$"])
    assert (ran["exit_status"], ran["signal"]) == (None, signal.SIGTERM)


def test_a_program_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        whit.run(["no-such-program"])
    with pytest.raises(ValueError, match="has a program"):
        whit.run([])


def test_a_signal_handler_that_raises_ends_the_command(tmp_path):
    # A shell that starts something in the background lets it ignore this signal, and Python would as well.
    words = "import signal, whit\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    words += f"try:\n    whit.run(['sh', '-c', 'echo $$ > {tmp_path}/pid; exec sleep 60'])\n"
    words += "except KeyboardInterrupt:\n    print('interrupted')"
    child = subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE, text=True)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
