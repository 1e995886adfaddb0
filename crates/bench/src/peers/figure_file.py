import time
def used():
    values = {}
    for line in open('/proc/meminfo'):
        name, value = line.split(':')
        values[name] = int(value.split()[0])
    return values['MemTotal'] - values['MemAvailable']
used()
before = time.process_time_ns()
for _ in range(2000): used()
print((time.process_time_ns() - before) / 2000)
