"""The part of the package that is compiled."""

import os
from typing import Dict, Iterator, List, Optional, Sequence, Tuple, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]

class Swap(TypedDict):
    total_bytes: int
    used_bytes: int
    free_bytes: int

class Limit(TypedDict):
    cgroup_version: int
    total_bytes: int
    used_bytes: int
    free_bytes: int
    caches_bytes: int
    available_bytes: int

class Memory(TypedDict):
    total_bytes: int
    used_bytes: Optional[int]
    free_bytes: int
    anonymous_bytes: int
    kernel_bytes: int
    caches_bytes: int
    others_bytes: int
    available_bytes: Optional[int]
    swap: Optional[Swap]
    limit: Optional[Limit]

class Cpu(TypedDict):
    user_seconds: float
    nice_seconds: float
    system_seconds: float
    idle_seconds: float
    iowait_seconds: float
    irq_seconds: float
    softirq_seconds: float
    steal_seconds: float

class Interface(TypedDict):
    received_bytes: int
    received_packets: int
    receive_errors: int
    receive_drops: int
    sent_bytes: int
    sent_packets: int
    send_errors: int
    send_drops: int

class Disk(TypedDict):
    reads: int
    read_bytes: int
    read_ms: int
    writes: int
    written_bytes: int
    write_ms: int
    busy_ms: int
    is_whole: bool

class Delay(TypedDict):
    count: Optional[int]
    total_ns: Optional[int]
    max_ns: Optional[int]

class Account(TypedDict):
    pid: int
    name: str
    threads: int
    wall_ns: int
    on_cpu_ns: Optional[int]
    run_queue: Delay
    block_io: Delay
    swap_in: Delay
    reclaim: Delay
    thrashing: Delay
    compaction: Delay
    copy: Delay
    irq: Delay

class Task(TypedDict):
    pid: int
    tid: int
    ppid: Optional[int]
    uid: Optional[int]
    name: str
    state: Optional[str]
    nice: int
    wall_ns: int
    on_cpu_ns: Optional[int]
    run_queue_ns: Optional[int]
    block_io_ns: Optional[int]
    resident_bytes: Optional[int]
    read_bytes: Optional[int]
    written_bytes: Optional[int]

class Mail(TypedDict):
    messages: int
    unread: int

class CpuShares(TypedDict):
    busy_ratio: float
    user_ratio: float
    system_ratio: float
    iowait_ratio: float
    steal_ratio: float

class InterfaceRates(TypedDict):
    received_bytes_per_second: Optional[float]
    sent_bytes_per_second: Optional[float]

class DiskRates(TypedDict):
    read_bytes_per_second: Optional[float]
    written_bytes_per_second: Optional[float]
    busy_ratio: Optional[float]

class Rates(TypedDict):
    interval_seconds: float
    cpu: Optional[CpuShares]
    memory: Memory
    network: Dict[str, InterfaceRates]
    disks: Dict[str, DiskRates]

class Ages(TypedDict):
    below_ns: Optional[int]
    files: int
    bytes: int

class Directory(TypedDict):
    files: int
    bytes: int
    allocated_bytes: int
    oldest_ns: Optional[int]
    newest_ns: Optional[int]
    ageless_files: int
    directories: int
    failures: int
    ages: List[Ages]

class Run(TypedDict):
    pid: int
    exit_status: Optional[int]
    signal: Optional[int]
    wall_ns: int
    user_ns: int
    system_ns: int
    peak_resident_bytes: int
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int
    account: Optional[Account]

#: A text, or the labels, times and values of each series.
Answer = Union[str, List[Tuple[Dict[str, str], List[float], List[float]]]]

def delays(pid: int) -> Account: ...
def run(command: Sequence[Path]) -> Run: ...
def scan(path: Path, *, recurse: bool = False) -> Directory: ...
def sysctl(name: str, *, root: Optional[Path] = None) -> bytes: ...
def tasks() -> List[Task]: ...

class Machine:
    def __init__(self, root: Optional[Path] = None) -> None: ...
    def memory(self) -> Memory: ...
    def cpu(self) -> Cpu: ...
    def load(self) -> Tuple[float, float, float]: ...
    def network(self) -> Dict[str, Interface]: ...
    def disks(self) -> Dict[str, Disk]: ...

class Tasks:
    def __init__(self) -> None: ...
    @property
    def source(self) -> str: ...
    def read(self) -> List[Task]: ...

class Mailbox:
    def __init__(self, path: Path) -> None: ...
    def read(self) -> Mail: ...

class Sampler:
    def __init__(self, interval_seconds: float = 1.0) -> None: ...
    def sample(self) -> Optional[Rates]: ...
    def __iter__(self) -> Iterator[Rates]: ...
    def __next__(self) -> Rates: ...

class History:
    def __init__(self, directory: Path) -> None: ...
    def query(self, expression: str, at_seconds: float) -> Answer: ...
    def range(self, expression: str, range_seconds: Tuple[float, float], step_seconds: float) -> Answer: ...
