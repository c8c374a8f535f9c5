#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Both sides of a TCP connection, for the tests of what lies between them. On loopback only.

    peer.py serve KIND ADDRESS PORT FILE    listens (port 0: any); FILE gets the port once it is open
    peer.py ask KIND ADDRESS PORT [WORD...] ends with 0 when everything was as it has to be

kinds of servers:
    echo    gives back what comes, in capitals; after the end of file "bye", then its own end
    count   reads to the end, then answers how many bytes came and what they add up to
    deaf    takes connections and reads nothing
    reset   reads one byte, then resets
    late    reads nothing before FILE.sent is there; then all, and FILE.got has how many bytes it was
    keep    appends what comes to FILE.got
kinds of clients:
    echo            a line there and back, a half-close, "bye", the end
    count N         sends N bytes, half-closes, compares the answer
    many N          N connections at once: all open, then all used, then all closed
    queue N         N connections are begun at once, and used one after the other
    hold N          N connections are begun at once, and kept for three seconds, with the file "holding" there
    full            sends until nothing is taken any more for a second; says how much it was
    fill FILE       sends until nothing is taken any more for a moment; FILE.sent has how much it was; ends at once
    reset           expects a reset
    closed          expects that the connection ends without a byte
    say TEXT        sends TEXT and ends at once
    rude            sends a byte, then resets
"""
import os
import socket
import struct
import sys
import threading
import time

PIECE = bytes(range(256)) * 256


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def read_all(connection):
    return b"".join(iter(lambda: connection.recv(65536), b""))


# ---- servers ----


def serve_echo(connection, _):
    for data in iter(lambda: connection.recv(65536), b""):
        connection.sendall(data.upper())
    connection.sendall(b"bye\n")


def serve_count(connection, _):
    length = total = 0
    for data in iter(lambda: connection.recv(1 << 20), b""):
        length += len(data)
        total += data[0] + data[-1]
    connection.sendall(b"%d" % length)


def serve_deaf(connection, _):
    threading.Event().wait()


def serve_reset(connection, _):
    connection.recv(1)
    reset(connection)


def write_whole(path, text):
    with open(path + ".new", "w", encoding="ascii") as out:
        out.write(text)
    os.rename(path + ".new", path)


def serve_late(connection, told):
    while not os.path.exists(told + ".sent"):
        time.sleep(0.02)
    write_whole(told + ".got", str(len(read_all(connection))))


def serve_keep(connection, told):
    data = b"?"
    with open(told + ".got", "ab", buffering=0) as out:
        try:
            data = read_all(connection)
        except ConnectionResetError:
            data = b"reset"
        out.write(data)


def serve_one(kind, connection, told):
    try:
        with connection:
            globals()["serve_" + kind](connection, told)
    except OSError:
        pass


def serve(kind, address, port, told):
    listener = socket.socket(family(address))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, int(port)))
    listener.listen(1024)
    write_whole(told, str(listener.getsockname()[1]))
    threading.stack_size(256 * 1024)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve_one, args=(kind, connection, told), daemon=True).start()


# ---- clients ----


def connect(address, port):
    return socket.create_connection((address, port), 20)


def ask_echo(place):
    client = connect(*place)
    client.sendall(b"hello\n")
    assert client.recv(6, socket.MSG_WAITALL) == b"HELLO\n"
    client.shutdown(socket.SHUT_WR)
    assert read_all(client) == b"bye\n"


def ask_count(place, text):
    client, left = connect(*place), int(text)
    while left:
        piece = PIECE[:left]
        client.sendall(piece)
        left -= len(piece)
    client.shutdown(socket.SHUT_WR)
    answer = read_all(client)
    assert answer == text.encode(), answer


def use(client, i):
    word = b"word %d\n" % i
    client.sendall(word)
    got = client.recv(len(word), socket.MSG_WAITALL)
    assert got == word.upper(), (i, got)


def ask_many(place, text):
    clients = [connect(*place) for _ in range(int(text))]
    for i, client in enumerate(clients):
        use(client, i)
    for i, client in enumerate(clients):
        use(client, i)
        client.close()


def ask_queue(place, text):
    clients = [connect(*place) for _ in range(int(text))]
    for i, client in enumerate(clients):
        use(client, i)
        client.close()


def ask_hold(place, text):
    clients = [connect(*place) for _ in range(int(text))]
    with open("holding", "w", encoding="ascii"):
        time.sleep(3)
    assert clients


def send_until_full(client, seconds):
    sent = 0
    client.settimeout(seconds)
    try:
        while True:
            sent += client.send(PIECE)
    except socket.timeout:
        return sent


def ask_full(place):
    print(send_until_full(connect(*place), 1))


def ask_fill(place, path):
    client = connect(*place)
    write_whole(path + ".sent", str(send_until_full(client, 0.3)))


def ask_reset(place):
    client = connect(*place)
    client.sendall(b"x")
    try:
        data = read_all(client)
    except ConnectionResetError:
        return
    raise AssertionError(data)


def ask_closed(place):
    try:
        data = read_all(connect(*place))
    except ConnectionResetError:
        return
    assert data == b"", data


def ask_say(place, text):
    connect(*place).sendall(text.encode())


def ask_rude(place):
    client = connect(*place)
    client.sendall(b"x")
    reset(client)


def main(words):
    if len(words) == 5 and words[0] == "serve" and "serve_" + words[1] in globals():
        return serve(*words[1:])
    if len(words) >= 4 and words[0] == "ask" and "ask_" + words[1] in globals():
        return globals()["ask_" + words[1]]((words[2], int(words[3])), *words[4:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
