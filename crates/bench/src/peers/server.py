import socket, time, json
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(('127.0.0.1', PORT))
listener.listen(1)
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
