import sys, time
from pathlib import Path
before = time.monotonic_ns()
old = 0
for path in Path(sys.argv[1]).iterdir():
    if path.is_file() and time.time() - path.stat().st_mtime > 86400: old += 1
print(time.monotonic_ns() - before)
