"""CPU time of whit and of psutil (of a directory: Python's own calls) for the same question, in turn. The median ratio, and the least and the greatest of a round.
Beside it the part of whit's time that the kernel takes to make the file."""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

import whit

ROUNDS = 11

machine, reader = whit.Machine(), whit.Tasks()
sampler = whit.Sampler()
sampler.sample()
FIELDS = ["ppid", "name", "status", "nice", "cpu_times", "memory_info", "uids", "num_threads"]


def processes_of_psutil():
    return [process.info for process in psutil.process_iter(FIELDS)]


def all_of_psutil():
    return psutil.virtual_memory(), psutil.cpu_times_percent(), psutil.net_io_counters(True), psutil.disk_io_counters(True)


def files_of_python():
    with os.scandir(directory.name) as entries:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)


directory = tempfile.TemporaryDirectory()
for number in range(10_000):
    (Path(directory.name) / f"cached-{number}").touch()

QUESTIONS = {
    "memory": (machine.memory, psutil.virtual_memory, 200),
    "cpu": (machine.cpu, psutil.cpu_times, 200),
    "network": (machine.network, lambda: psutil.net_io_counters(pernic=True), 200),
    "disks": (machine.disks, lambda: psutil.disk_io_counters(perdisk=True), 200),
    "a second of a status line": (sampler.sample, all_of_psutil, 100),
    "tasks": (reader.read, processes_of_psutil, 3),
    "a directory of 10,000 files": (lambda: whit.scan(directory.name), files_of_python, 3),
}


#: The file that a question reads.
FILES = {"memory": "/proc/meminfo", "cpu": "/proc/stat", "network": "/proc/net/dev", "disks": "/proc/diskstats"}


def kernel_of(path):
    """Reads the file as whit does: again and again, in place."""
    descriptor = os.open(path, os.O_RDONLY)
    return lambda: os.pread(descriptor, 1 << 16, 0)


def cpu_of(function, times):
    begun = time.process_time_ns()
    for _ in range(times):
        function()
    return (time.process_time_ns() - begun) / times


print(f"{len(psutil.pids())} processes, {len(reader.read())} threads, read by {reader.source}")
for name, (ours, theirs, times) in QUESTIONS.items():
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    pairs = [(cpu_of(ours, times), cpu_of(theirs, times)) for _ in range(ROUNDS)]
    ratios = sorted(one / other for one, other in pairs)
    microseconds = statistics.median(one for one, _ in pairs) / 1000
    print(f"{name}: {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}) of the other's, {microseconds:.1f} µs")
    if name in FILES:
        kernel = statistics.median(cpu_of(kernel_of(FILES[name]), times) for _ in range(ROUNDS)) / 1000
        print(f"    the kernel makes {FILES[name]} in {kernel:.1f} µs, {kernel / microseconds:.2f} of it")
