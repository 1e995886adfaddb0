import ctypes, os, subprocess, time
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
memory = bytearray(BYTES)
for at in range(0, BYTES, 4096): memory[at] = 1
def reap(pid): os.waitpid(pid, 0)
def spawn(): reap(os.posix_spawn('/bin/true', ['true'], os.environ))
def fork():
    pid = os.fork()
    if pid == 0:
        try: os.execv('/bin/true', ['true'])
        finally: os._exit(127)
    reap(pid)
def popen(): os.popen('true').close()
WAY()
before = time.monotonic_ns()
for _ in range(COUNT): WAY()
print((time.monotonic_ns() - before) / COUNT)
