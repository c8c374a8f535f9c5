#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a new pseudo terminal, acts on it step by step, prints what it wrote, ends with its status.

    pty.py [--size ROWSxCOLUMNS] [--timeout SECONDS] [STEP...] -- COMMAND...

Steps, in this order:
    --expect REGEX     until the output since the last match holds it
    --send TEXT        type it (backslash escapes as in Python: \\n, \\x03)
    --resize RxC       change the size of the window (the kernel sends SIGWINCH)
    --signal NAME      send it to the command's process
    --sleep SECONDS
    --foreground NAME  until the terminal's foreground process group is led by a process of this name

128+N when signal N ended the command, 99 when a step was not done in time (default: 20 seconds for all).
"""
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time


class Failed(Exception):
    pass


class Terminal:
    def __init__(self, command, size, limit):
        self.output = b""
        self.seen = 0
        self.end = time.monotonic() + limit
        self.fd, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
        started, starting = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self.become(command, theirs, starting)
        os.close(theirs)
        os.close(starting)
        os.read(started, 1)  # end of file at the exec: nothing is typed before the terminal is the command's
        os.close(started)

    @staticmethod
    def become(command, theirs, starting):
        """The child: a session of its own with this terminal, and nothing else that is open."""
        try:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(theirs, fd)
            for fd in range(3, 256):
                if fd != starting:
                    os.closerange(fd, fd + 1)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, which would be inherited
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error}\n".encode())
        os._exit(127)

    def read(self, seconds):
        """Takes what is there; False at the end of the output."""
        ready, _, _ = select.select([self.fd], [], [], max(0, seconds))
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # EIO: nobody has the other side open any more
            return False
        self.output += data
        return bool(data)

    def until(self, done, what):
        """Reads until done() is true."""
        is_open = True
        while not done():
            if time.monotonic() > self.end:
                raise Failed(f"not in time: {what}")
            if not is_open:
                raise Failed(f"the command ended before: {what}")
            is_open = self.read(0.05)

    def matched(self, pattern):
        match = re.search(pattern, self.output[self.seen:])
        if match:
            self.seen += match.end()
        return match is not None

    def foreground(self, name):
        try:
            with open(f"/proc/{os.tcgetpgrp(self.fd)}/comm", encoding="utf-8") as comm:
                return comm.read().strip() == name
        except OSError:
            return False

    def step(self, kind, value):
        if kind == "--expect":
            pattern = re.compile(value.encode(), re.DOTALL)
            self.until(lambda: self.matched(pattern), f"{kind} {value}")
        elif kind == "--foreground":
            self.until(lambda: self.foreground(value), f"{kind} {value}")
        elif kind == "--send":
            os.write(self.fd, value.encode().decode("unicode_escape").encode("latin-1"))
        elif kind == "--resize":
            fcntl.ioctl(self.fd, termios.TIOCSWINSZ, window_size(value))
        elif kind == "--signal":
            os.kill(self.pid, getattr(signal, "SIG" + value.removeprefix("SIG")))
        elif kind == "--sleep":
            until = time.monotonic() + float(value)
            self.until(lambda: time.monotonic() >= until, f"{kind} {value}")

    def finish(self):
        """The command's status, after all it has to say."""
        status = None
        is_open = True
        while status is None or (is_open and select.select([self.fd], [], [], 0)[0]):
            if time.monotonic() > self.end:
                raise Failed("not in time: the end of the command")
            if is_open:
                is_open = self.read(0.05)
            else:
                time.sleep(0.01)
            if status is None:
                pid, raw = os.waitpid(self.pid, os.WNOHANG)
                status = raw if pid else None
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code


def window_size(text):
    rows, columns = text.split("x")
    return struct.pack("HHHH", int(rows), int(columns), 0, 0)


STEPS = ("--expect", "--send", "--resize", "--signal", "--sleep", "--foreground")


def main(words):
    size, limit, steps = "24x80", 20.0, []
    while words and words[0] != "--":
        if len(words) < 2 or words[0] not in STEPS + ("--size", "--timeout"):
            print(__doc__, file=sys.stderr)
            return 2
        kind, value = words[0], words[1]
        if kind == "--size":
            size = value
        elif kind == "--timeout":
            limit = float(value)
        else:
            steps.append((kind, value))
        words = words[2:]
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    terminal = Terminal(words[1:], window_size(size), limit)
    try:
        for kind, value in steps:
            terminal.step(kind, value)
        code = terminal.finish()
    except Failed as error:
        os.kill(terminal.pid, signal.SIGKILL)
        code = 99
        print(f"pty.py: {error}", file=sys.stderr)
    sys.stdout.buffer.write(terminal.output)
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
