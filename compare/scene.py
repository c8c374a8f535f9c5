# SPDX-License-Identifier: Apache-2.0
"""The scene of one attempt, below the home, where real projects are, with a home of its own:

    TOP/home            HOME: made-up secrets, a tool in ~/.local/bin, git's configuration
    TOP/home/project    the worktree, a git repository with one commit; the command starts there
    TOP/home/other      what lies beside it, with the sockets of two services
    TOP/hits            one file for each service that was reached, and `died` for the victim

and a process outside, the victim. Services listen on loopback, by path and by abstract name.
"""
import os
import secrets
import selectors
import shutil
import socket
import subprocess
import tempfile
import threading
import time

CANARY = "canary"
TOKEN = "MY_API_TOKEN"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

MAKE = """
mkdir -p home/.ssh home/.aws home/.local/bin home/other home/project hits && cd home
for file in .ssh/id_test .aws/credentials .netrc .bash_history; do echo canary >$file && chmod 600 $file; done
echo '# start-up file' >.bashrc
printf '#!/bin/sh\\nexit 0\\n' >.local/bin/tool && chmod +x .local/bin/tool
export HOME=$PWD
git config --global user.name 'A Tester' && git config --global user.email tester@example.invalid
echo kept >other/file && echo kept >other/before && echo kept >other/input && chmod 644 other/*
cd project && git init -q -b main
git config user.name 'A Tester' && git config user.email tester@example.invalid
echo one >f && echo canary >.env && ln -s ../other/file link-out
printf '%s\\n' .env link-out before .attempt here go >.git/info/exclude
git add f && git commit -q -m first && rm -f .git/hooks/*
ln ../other/before before
"""


def environment(home):
    return {"HOME": home, "PATH": SYSTEM_PATH, "TERM": "xterm", "LANG": "C.UTF-8", TOKEN: CANARY}


def make_template(attempt):
    """Once: each scene is a copy, which costs less than git."""
    template = tempfile.mkdtemp(prefix="pinfold-compare-template.", dir=os.path.expanduser("~"))
    subprocess.run(["bash", "-ec", MAKE], cwd=template, env=environment(template), check=True,
                   stdout=subprocess.DEVNULL)
    shutil.copy(attempt, template + "/home/project/.attempt")
    return template


class Scene:
    def __init__(self, template):
        self.top = tempfile.mkdtemp(prefix="pinfold-compare.", dir=os.path.expanduser("~"))
        subprocess.run(["cp", "-a", template + "/.", self.top], check=True)
        self.home, self.work = self.top + "/home", self.top + "/home/project"
        self.hits = self.top + "/hits"
        self.name = "pinfold-compare-" + secrets.token_hex(8)
        self.selector = selectors.DefaultSelector()
        self.tcp = self.listen("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.udp = self.listen("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self.listen("sock", socket.AF_UNIX, socket.SOCK_STREAM, self.home + "/other/sock")
        self.listen("dgram", socket.AF_UNIX, socket.SOCK_DGRAM, self.home + "/other/dgram")
        self.listen("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.name)
        self.listen("abstract-d", socket.AF_UNIX, socket.SOCK_DGRAM, "\0" + self.name + "-d")
        self.ending, self.end = socket.socketpair()
        self.selector.register(self.ending, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        self.victim = subprocess.Popen([self.work + "/.attempt", "wait", self.name], env=environment(self.home),
                                       start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with open(self.top + "/listed", "w", encoding="utf-8") as file:
            file.write("\n".join(name for name in subprocess.run(
                ["ls", "-A"], cwd=self.work, env=environment(self.home), capture_output=True, text=True,
                check=True).stdout.split()))

    def listen(self, what, family, kind, address):
        server = socket.socket(family, kind)
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen(8)
        self.selector.register(server, selectors.EVENT_READ, what)
        return server.getsockname()[1] if family == socket.AF_INET else 0

    def serve(self):
        while True:
            for key, _ in self.selector.select():
                if key.data is None:
                    return
                if key.fileobj.type == socket.SOCK_STREAM:
                    key.fileobj.accept()[0].close()
                else:
                    key.fileobj.recv(64)
                self.hit(key.data)

    def hit(self, what):
        with open(f"{self.hits}/{what}", "w", encoding="utf-8"):
            pass

    def settle(self):
        """Gives the services, and a signal that was sent, the time to arrive."""
        time.sleep(0.3)
        try:
            self.victim.wait(timeout=0.1)
            self.hit("died")
        except subprocess.TimeoutExpired:
            pass

    def variables(self):
        """For the scripts of compare/entries.tsv. The random bytes of the name are alone in the world."""
        return {"home": self.home, "work": self.work, "hits": self.hits, "TOP": self.top, "pid": self.victim.pid,
                "port": self.tcp, "udp": self.udp, "sock": self.home + "/other/sock",
                "dgram": self.home + "/other/dgram", "name": self.name, "token": self.name}

    def close(self):
        self.victim.kill()
        self.victim.wait()
        self.end.send(b"x")
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.end.close()
        self.selector.close()
        subprocess.run(["chmod", "-R", "u+rwX", self.top], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.top, ignore_errors=True)
        for place in ("/tmp/", "/dev/shm/"):
            if os.path.exists(place + self.name):
                os.unlink(place + self.name)
