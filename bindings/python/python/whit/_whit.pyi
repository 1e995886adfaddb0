"""The part of the package that is compiled."""

import os
from typing import Dict, Iterator, List, Optional, Sequence, Tuple, TypedDict, Union, final, type_check_only

_Path = Union[str, "os.PathLike[str]"]

@type_check_only
class Swap(TypedDict):
    total_bytes: int
    used_bytes: int
    free_bytes: int

@type_check_only
class Limit(TypedDict):
    cgroup_version: int
    total_bytes: int
    used_bytes: int
    free_bytes: int
    caches_bytes: int
    available_bytes: int

@type_check_only
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

@type_check_only
class Cpu(TypedDict):
    user_seconds: float
    nice_seconds: float
    system_seconds: float
    idle_seconds: float
    iowait_seconds: float
    irq_seconds: float
    softirq_seconds: float
    steal_seconds: float

@type_check_only
class Interface(TypedDict):
    received_bytes: int
    received_packets: int
    receive_errors: int
    receive_drops: int
    sent_bytes: int
    sent_packets: int
    send_errors: int
    send_drops: int

@type_check_only
class Disk(TypedDict):
    reads: int
    read_bytes: int
    read_ms: int
    writes: int
    written_bytes: int
    write_ms: int
    busy_ms: int
    is_whole: bool

@type_check_only
class Delay(TypedDict):
    count: Optional[int]
    total_ns: Optional[int]
    max_ns: Optional[int]

@type_check_only
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

@type_check_only
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

@type_check_only
class Mail(TypedDict):
    messages: int
    unread: int

@type_check_only
class CpuShares(TypedDict):
    busy_ratio: float
    user_ratio: float
    system_ratio: float
    iowait_ratio: float
    steal_ratio: float

@type_check_only
class InterfaceRates(TypedDict):
    received_bytes_per_second: Optional[float]
    sent_bytes_per_second: Optional[float]

@type_check_only
class DiskRates(TypedDict):
    read_bytes_per_second: Optional[float]
    written_bytes_per_second: Optional[float]
    busy_ratio: Optional[float]

@type_check_only
class Rates(TypedDict):
    interval_seconds: float
    cpu: Optional[CpuShares]
    memory: Memory
    network: Dict[str, InterfaceRates]
    disks: Dict[str, DiskRates]

@type_check_only
class Ages(TypedDict):
    below_ns: Optional[int]
    files: int
    bytes: int

@type_check_only
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

@type_check_only
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

# A text, or the labels, times and values of each series.
_Answer = Union[str, List[Tuple[Dict[str, str], List[float], List[float]]]]

def delays(pid: int) -> Account: ...
def run(command: Sequence[_Path]) -> Run: ...
def scan(path: _Path, *, recurse: bool = False) -> Directory: ...
def sysctl(name: str, *, root: Optional[_Path] = None) -> bytes: ...
def tasks() -> List[Task]: ...

@final
class Machine:
    def __new__(cls, root: Optional[_Path] = None) -> "Machine": ...
    def memory(self) -> Memory: ...
    def cpu(self) -> Cpu: ...
    def load(self) -> Tuple[float, float, float]: ...
    def network(self) -> Dict[str, Interface]: ...
    def disks(self) -> Dict[str, Disk]: ...

@final
class Tasks:
    def __new__(cls) -> "Tasks": ...
    @property
    def source(self) -> str: ...
    def read(self) -> List[Task]: ...

@final
class Mailbox:
    def __new__(cls, path: _Path) -> "Mailbox": ...
    def read(self) -> Mail: ...

@final
class Sampler:
    def __new__(cls, interval_seconds: float = 1.0) -> "Sampler": ...
    def sample(self) -> Optional[Rates]: ...
    def __iter__(self) -> Iterator[Rates]: ...
    def __next__(self) -> Rates: ...

@final
class History:
    def __new__(cls, directory: _Path) -> "History": ...
    def query(self, expression: str, at_seconds: float) -> _Answer: ...
    def range(self, expression: str, range_seconds: Tuple[float, float], step_seconds: float) -> _Answer: ...
