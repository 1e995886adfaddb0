import mmap, time
before = time.process_time_ns()
file = open(PATH, 'rb')
data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
def count(what):
    number = at = 0
    while (at := data.find(what, at)) >= 0:
        number += 1; at += 1
    return number
count(b'\nFrom ') + 1 - count(b'\nStatus: RO')
print(time.process_time_ns() - before)
