"""Readings of the machine: those of captured machines exactly, those of this one beside psutil."""

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import whit

FIXTURES = Path(__file__).parents[3] / "fixtures"
EXAMPLES = Path(__file__).parents[1] / "examples"


def test_a_captured_machine_has_what_it_had():
    memory = whit.Machine(FIXTURES / "linux-4.19").memory()
    parts = ["anonymous_bytes", "kernel_bytes", "caches_bytes", "others_bytes", "free_bytes"]
    assert sum(memory[part] for part in parts) == memory["total_bytes"]
    assert memory["limit"] is None
    one, five, fifteen = whit.Machine(FIXTURES / "laptop").load()
    assert (one, five, fifteen) == tuple(map(float, (FIXTURES / "laptop/proc/loadavg").read_text().split()[:3]))


def test_what_is_not_there_is_an_error_with_its_reason():
    with pytest.raises(OSError, match="/no/such/machine"):
        whit.Machine("/no/such/machine").memory()
    with pytest.raises(ProcessLookupError, match="process 4194305: gone"):
        whit.delays(4194305)


def test_parameters_are_those_of_both_kernels():
    assert whit.sysctl("kernel.osrelease").decode().strip() == os.uname().release
    assert whit.sysctl("kernel/ostype") == b"Linux\n"
    cpus = whit.sysctl("hw.ncpu", root=FIXTURES / "freebsd-14")
    assert int.from_bytes(cpus, "little") == 8
    with pytest.raises(FileNotFoundError, match="kernel.nothing"):
        whit.sysctl("kernel.nothing")
    with pytest.raises(FileNotFoundError):
        whit.sysctl("kernel/../../uptime")


def test_memory_is_that_of_psutil():
    # Before and after: a machine's memory changes between two readings.
    before, memory, after = psutil.virtual_memory(), whit.memory(), psutil.virtual_memory()
    assert memory["total_bytes"] == before.total
    low, high = sorted((before.available, after.available))
    assert low - (64 << 20) <= memory["available_bytes"] <= high + (64 << 20)


def test_counters_lie_between_two_readings_of_psutil():
    before, cpu, after = psutil.cpu_times(), whit.cpu(), psutil.cpu_times()
    # psutil and the kernel count guests in user time as well.
    assert before.user <= cpu["user_seconds"] <= after.user
    assert before.idle <= cpu["idle_seconds"] <= after.idle
    before, network, after = psutil.net_io_counters(pernic=True), whit.network(), psutil.net_io_counters(pernic=True)
    assert set(network) == set(before)
    for name, counters in network.items():
        assert before[name].bytes_recv <= counters["received_bytes"] <= after[name].bytes_recv
    before, disks, after = psutil.disk_io_counters(perdisk=True), whit.disks(), psutil.disk_io_counters(perdisk=True)
    for name in set(disks) & set(before):
        assert before[name].write_bytes <= disks[name]["written_bytes"] <= after[name].write_bytes


def test_tasks_are_those_of_psutil():
    before, tasks, after = set(psutil.pids()), whit.tasks(), set(psutil.pids())
    pids = {task["pid"] for task in tasks}
    # Those that were there at both ends. Both include the kernel's threads.
    assert before & after <= pids
    own = [task for task in tasks if task["pid"] == os.getpid()]
    assert {task["tid"] for task in own} == {thread.id for thread in psutil.Process().threads()}
    resident = psutil.Process().memory_info().rss
    assert abs(own[0]["resident_bytes"] - resident) < 32 << 20


def test_a_child_that_computes_was_on_a_cpu():
    words = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\nprint(flush=True)\ninput()"
    child = subprocess.Popen([sys.executable, "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    account = whit.delays(child.pid)
    child.communicate(b"\n")
    assert account["on_cpu_ns"] >= 300_000_000
    assert account["wall_ns"] >= account["on_cpu_ns"]
    assert account["run_queue"]["total_ns"] is not None


def test_rates_are_those_of_the_interval():
    sampler = whit.Sampler(0.2)
    first, second = next(sampler), next(sampler)
    for rates in (first, second):
        assert rates["interval_seconds"] >= 0.2
        assert 0 <= rates["cpu"]["busy_ratio"] <= 1
        assert rates["memory"]["total_bytes"] == psutil.virtual_memory().total
    with pytest.raises(ValueError, match="above 0"):
        whit.Sampler(0)


def test_a_signal_ends_the_wait():
    # A shell that starts something in the background lets it ignore this signal, and Python would as well.
    words = "import signal, whit\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    words += "try:\n    print('ready', flush=True)\n    next(whit.Sampler(3600))\nexcept KeyboardInterrupt:\n    print('interrupted')"
    child = subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    child.send_signal(2)
    assert child.communicate(timeout=60)[0] == "interrupted\n"


def test_mail_is_counted_again_for_what_was_appended(tmp_path):
    path = tmp_path / "mbox"
    message = "From ann Mon Jan  1 00:00:00 2024\nSubject: one\n\ntext\n\n"
    path.write_text(message)
    mailbox = whit.Mailbox(path)
    assert mailbox.read() == {"messages": 1, "unread": 1}
    with path.open("a") as file:
        file.write(message.replace("Subject", "Status: RO\nSubject"))
    assert mailbox.read() == {"messages": 2, "unread": 1}
    assert whit.mailbox(path) == {"messages": 2, "unread": 1}


def test_what_is_printed_is_json():
    assert json.loads(json.dumps(whit.memory()))["total_bytes"] > 0


def test_the_example_runs():
    child = subprocess.Popen([sys.executable, EXAMPLES / "status_line.py"], stdout=subprocess.PIPE, text=True)
    line = child.stdout.readline()
    child.kill()
    child.wait()
    assert "mem " in line and "load " in line, line


def test_the_readme_is_true():
    failed, tried = doctest.testfile(str(Path(__file__).parents[1] / "README.md"), module_relative=False)
    assert (failed, tried > 3) == (0, True)
