"""The script that whit began with, a status line for a bar: no program is started, and each file is opened once."""

import time

import whit


def sized(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


machine = whit.Machine()
for rates in whit.Sampler(1.0):
    parts = []
    for name, traffic in rates["network"].items():
        if name != "lo" and traffic["received_bytes_per_second"] is not None:
            parts.append(f"{name} ↓{sized(traffic['received_bytes_per_second'])} ↑{sized(traffic['sent_bytes_per_second'] or 0)}")
    memory = rates["memory"]
    if memory["used_bytes"] is not None:
        parts.append(f"mem {sized(memory['used_bytes'])} {memory['used_bytes'] / memory['total_bytes']:.0%}")
    if rates["cpu"] is not None:
        parts.append(f"cpu {rates['cpu']['busy_ratio']:.0%}")
    parts.append(f"load {machine.load()[0]:.2f}")
    parts.append(time.strftime("%a %Y-%m-%d %H:%M:%S"))
    print(" | ".join(parts), flush=True)
