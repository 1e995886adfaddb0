"""Where a machine's time and memory go, read from the kernel.

A reading is a dictionary whose keys have their unit, as in the JSON of the program whit; what is not known is None, never 0.
"""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Tuple, Union

from . import _whit
from ._whit import Machine, Mailbox, Sampler, Tasks, delays, run, scan, sysctl, tasks

if TYPE_CHECKING:
    import pandas

__all__ = [
    "History",
    "Machine",
    "Mailbox",
    "Sampler",
    "Series",
    "Tasks",
    "cpu",
    "delays",
    "disks",
    "frame",
    "load",
    "mailbox",
    "memory",
    "network",
    "run",
    "scan",
    "sysctl",
    "tasks",
]

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

#: Seconds since 1970, an instant, or a time before now.
Instant = Union[float, datetime, timedelta]


# Each of these opens the files that it reads. What asks again and again keeps a Machine, a Tasks or a Mailbox.


def memory() -> "_whit.Memory":
    """The memory of the machine, as `whit free` counts it.

    used_bytes is what new programs cannot have: total less available. limit is that of the own cgroup or of one above it,
    whichever has the least left, and None without one.
    """
    return Machine().memory()


def cpu() -> "_whit.Cpu":
    """The time of all CPUs together since the machine started: proc_stat(5)."""
    return Machine().cpu()


def load() -> Tuple[float, float, float]:
    """The load over one, five and fifteen minutes: proc_loadavg(5)."""
    return Machine().load()


def network() -> "Dict[str, _whit.Interface]":
    """The counters of each network interface since it was made, by its name: proc_pid_net(5)."""
    return Machine().network()


def disks() -> "Dict[str, _whit.Disk]":
    """The counters of each block device since it was made, by its name; a partition is not whole."""
    return Machine().disks()


def mailbox(path: Union[str, "os.PathLike[str]"]) -> "_whit.Mail":
    """How many messages an mbox or a Maildir has, and how many of them were not read."""
    return Mailbox(path).read()


class Series(NamedTuple):
    """A series of an answer: arrays if numpy is installed, else lists."""

    labels: Dict[str, str]
    #: Seconds since 1970.
    times: Any
    values: Any


class History:
    """What an agent has recorded in a directory (that of the machine's is /var/lib/whit), asked in PromQL."""

    def __init__(self, directory: Union[str, "os.PathLike[str]"]) -> None:
        self._recorded = _whit.History(directory)

    def query(self, expression: str, at: Instant = timedelta()) -> List[Series]:
        """Each series of the answer with its value at an instant."""
        return _series(self._recorded.query(expression, _seconds(at)))

    def range(self, expression: str, since: Instant, until: Instant = timedelta(), step: float = 1.0) -> List[Series]:
        """Each series of the answer with its values over a time, every so many seconds."""
        return _series(self._recorded.range(expression, (_seconds(since), _seconds(until)), step))


def frame(series: List[Series]) -> "pandas.DataFrame":
    """A column for each series, over the times of all. Needs pandas."""
    import pandas

    def column(one: Series) -> str:
        labels = dict(one.labels)
        name = labels.pop("__name__", "")
        rest = ",".join(f'{label}="{value}"' for label, value in labels.items())
        return f"{name}{{{rest}}}" if rest else name

    def values(one: Series) -> "pandas.Series":
        return pandas.Series(one.values, index=pandas.to_datetime(one.times, unit="s", utc=True))

    return pandas.DataFrame({column(one): values(one) for one in series})


def _seconds(instant: Instant) -> float:
    if isinstance(instant, datetime):
        return instant.timestamp()
    if isinstance(instant, timedelta):
        return time.time() - abs(instant.total_seconds())
    return float(instant)


def _series(answer: "_whit._Answer") -> List[Series]:
    if isinstance(answer, str):
        raise ValueError("the answer is a text, not a number")
    make = numpy.array if numpy else list
    return [Series(labels, make(times), make(values)) for labels, times, values in answer]
