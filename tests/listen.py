#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A listener of the tests, on loopback or a unix socket only, and the client that finds out whether it is reached.

    listen.py inet|inet6 FILE             listens on a free port, written into FILE once it is open
    listen.py unix|abstract NAME FILE     listens on a unix socket by path or by abstract name
    listen.py --connect HOST PORT         ends with 0 when the listener said hello
    listen.py --connect unix|abstract NAME
"""
import os
import socket
import sys

HELLO = b"hello\n"


def unix_address(kind, name):
    return b"\0" + os.fsencode(name) if kind == "abstract" else name


def open_listener(kind, name):
    if kind in ("inet", "inet6"):
        family, address = (socket.AF_INET, "127.0.0.1") if kind == "inet" else (socket.AF_INET6, "::1")
        listener = socket.socket(family)
        listener.bind((address, 0))
        return listener, str(listener.getsockname()[1])
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(unix_address(kind, name))
    return listener, name


def listen(kind, name, told):
    listener, port = open_listener(kind, name)
    listener.listen(16)
    with open(told + ".new", "w", encoding="utf-8", errors="surrogateescape") as out:
        out.write(port)
    os.rename(told + ".new", told)
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                connection.sendall(HELLO)
            except OSError:
                pass


def connect(host, port):
    if host in ("unix", "abstract"):
        client = socket.socket(socket.AF_UNIX)
        address = unix_address(host, port)
    else:
        client = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        address = (host, int(port))
    client.settimeout(5)
    client.connect(address)
    return 0 if client.recv(len(HELLO)) == HELLO else 1


def main(words):
    if len(words) == 3 and words[0] == "--connect":
        try:
            return connect(words[1], words[2])
        except OSError as error:
            print(f"connect: {error.strerror or error}", file=sys.stderr)
            return 1
    if len(words) == 2 and words[0] in ("inet", "inet6"):
        return listen(words[0], None, words[1])
    if len(words) == 3 and words[0] in ("unix", "abstract"):
        return listen(*words)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
