"""Counts unread messages: the mailbox mapped, and searched twice."""

import mmap
import sys


def occurrences(mapped, needle):
    count, at = 0, mapped.find(needle)
    while at >= 0:
        count += 1
        at = mapped.find(needle, at + len(needle))
    return count


with open(sys.argv[1], "rb") as mailbox, mmap.mmap(mailbox.fileno(), 0, prot=mmap.PROT_READ) as mapped:
    messages = 1 + occurrences(mapped, b"\n\nFrom ")
    print(messages - occurrences(mapped, b"\nStatus: R"))
