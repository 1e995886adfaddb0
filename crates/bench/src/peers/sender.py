import socket
packet = b'1' * 1024
sender = socket.create_connection(('127.0.0.1', PORT))
for _ in range(PACKETS): sender.sendall(packet)
