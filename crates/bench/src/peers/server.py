import socket, time, json
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(1)
print('listening at 127.0.0.1:%d' % listener.getsockname()[1], flush=True)
client, _ = listener.accept()
before, cpu = time.monotonic_ns(), time.process_time_ns()
packets = []
while True:
    data = client.recv(1024)
    if not data: break
    packets.append(data)
size = sum(map(len, packets))
print(json.dumps({'bytes': size, 'total_ns': time.monotonic_ns() - before,
                  'whit': {'on_cpu_ns': time.process_time_ns() - cpu}}))
