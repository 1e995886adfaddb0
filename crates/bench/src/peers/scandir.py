import os, sys, time
before = time.monotonic_ns()
old = 0
with os.scandir(sys.argv[1]) as entries:
    for entry in entries:
        if entry.is_file() and time.time() - entry.stat().st_mtime > 86400: old += 1
print(time.monotonic_ns() - before)
