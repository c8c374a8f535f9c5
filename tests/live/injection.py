#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the system calls of a run's set-up fail, one by one, and judges what came of it.

    injection.py PINFOLD INJECT ATTEMPT SCRATCH SCENARIO some|all|everything [ROLE:N[+]:ERRNO]

Whatever fails, one of two things is right: the command ran, and nothing got through that the record calls held; or it never
ran, and one clear line says why. In both cases nothing is left, and it ends in time.

"some" takes of every kind of call the first, the last and one between, each with one error; "all" takes all calls, each
with two; "everything" takes all calls with all errors. ROLE:N:ERRNO shows one.
"""
import ctypes
import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import time

ONCE, LASTING = "", "+"
# A refusal, a machine that lacks the call, the shortages. Not a broken disk: what cannot be read is not there.
FAILURES = [(errno.EPERM, ONCE), (errno.ENOSYS, LASTING), (errno.ENOMEM, ONCE), (errno.EPERM, LASTING),
            (errno.EMFILE, ONCE), (errno.ENOMEM, LASTING), (errno.EAGAIN, ONCE)]
FAILURES_EACH = {"some": 1, "all": 2, "everything": len(FAILURES)}
ROLES = ("supervisor", "map", "init", "command")
STATUS = 7  # the command's own
WRITE_CALL = {"x86_64": 1, "aarch64": 64}[os.uname().machine]
PR_SET_CHILD_SUBREAPER = 36


class World:
    """A home with secrets, a repository with a hook, and services of the host that answer."""

    def __init__(self, scratch):
        self.home = os.path.join(scratch, "home")
        self.work = os.path.join(self.home, "work")
        self.outside = os.path.join(self.home, "outside")
        self.record = os.path.join(self.home, "record.json")
        self.report = os.path.join(scratch, "calls")
        for path in (".ssh", ".aws", "outside", "more", "work/.vscode"):
            os.makedirs(os.path.join(self.home, path))
        for path, text in ((".ssh/id_test", "secret"), (".aws/credentials", "secret"), (".netrc", "secret"),
                           ("outside/file", "old"), ("input", "input\n"), ("work/.vscode/tasks.json", "{}"),
                           ("passed", "passed")):
            with open(os.path.join(self.home, path), "w", encoding="ascii") as file:
                file.write(text)
        os.makedirs(os.path.join(self.work, ".git/objects"))
        os.makedirs(os.path.join(self.work, ".git/refs"))
        os.makedirs(os.path.join(self.work, ".git/hooks"))
        for path, text in ((".git/HEAD", "ref: refs/heads/main\n"), (".git/config", "[core]\n\tbare = false\n"),
                           (".git/hooks/pre-commit", "#!/bin/sh\n")):
            with open(os.path.join(self.work, path), "w", encoding="ascii") as file:
                file.write(text)
        self.listeners = [socket.socket(), socket.socket(socket.AF_UNIX)]
        self.listeners[0].bind(("127.0.0.1", 0))
        self.abstract = f"pinfold-test-{os.getpid()}"
        self.listeners[1].bind("\0" + self.abstract)
        for listener in self.listeners:
            listener.listen(8)
            listener.setblocking(False)
        # Left open by a careless caller; the number is what the attempts name.
        self.left_open = os.open(self.outside, os.O_RDONLY | os.O_DIRECTORY)
        os.set_inheritable(self.left_open, True)
        self.environment = {"HOME": self.home, "PATH": os.environ["PATH"], "GITHUB_TOKEN": "secret",
                            **{name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}}

    def probes(self, scenario):
        """Those of the scenario."""
        return [(guarantee, words) for guarantee, words in self.all_probes() if guarantee not in NOT_HELD[scenario] and
                not (scenario == "landlock" and words[0] in WITHOUT_NAMESPACES)]

    def all_probes(self):
        """Each succeeds outside; inside it may succeed only where the record says that its guarantee is not held."""
        home, work = self.home, self.work
        return [
            ("writes", ["create", f"{self.outside}/@"]),
            ("writes", ["append", f"{self.outside}/file"]),
            ("writes", ["chmod", "0600", f"{self.outside}/file"]),
            ("writes", ["fd-createat", str(self.left_open), "@left"]),
            ("writes", ["fd-chmod", "0"]),
            ("writes", ["fd-reopen", "0"]),
            ("secrets", ["open-read", f"{home}/.ssh/id_test"]),
            ("secrets", ["list", f"{home}/.aws"]),
            ("secrets", ["open-read", f"{home}/.netrc"]),
            ("repository", ["create", f"{work}/.git/hooks/@"]),
            ("repository", ["append", f"{work}/.git/hooks/pre-commit"]),
            ("repository", ["append", f"{work}/.vscode/tasks.json"]),
            ("network", ["connect-tcp", "127.0.0.1", str(self.listeners[0].getsockname()[1])]),
            ("services", ["connect-abstract", self.abstract]),
            ("processes", ["kill", str(os.getpid()), "0"]),
            ("processes", ["command-line", "1"]),
            ("environment", ["variable", "GITHUB_TOKEN"]),
            ("privileges", ["privileged"]),
            ("privileges", ["unshare-user"]),
        ]

    def accept_all(self):
        """So that the next connection does not wait in a full queue."""
        for listener in self.listeners:
            try:
                while True:
                    listener.accept()[0].close()
            except BlockingIOError:
                pass

    def open_input(self):
        return open(os.path.join(self.home, "input"), "rb")

    def command(self, attempt, where, scenario):
        words = []
        for number, (_, probe) in enumerate(self.probes(scenario)):
            words += (["--"] if number else []) + [word.replace("@", where) for word in probe]
        return [attempt, "each", *words]

    def forget(self, where):
        for path in (f"{self.outside}/{where}", f"{self.outside}/{where}left", f"{self.work}/.git/hooks/{where}"):
            if os.path.lexists(path):
                os.unlink(path)


SCENARIOS = {
    "plain": [],
    "rich": ["--offline", "--write", "~/more", "--processes", "200", "--memory", "2G", "--tmp-size", "8M", "--time", "60s",
             "--accept", "limits"],
    "landlock": ["--backend", "landlock", "--accept", "writes,repository,processes,terminal,privileges,limits"],
}
# What a scenario does not hold; the landlock backend does not hold metadata either, nor take the bounding set from a user.
NOT_HELD = {"plain": {"network"}, "rich": set(), "landlock": {"network", "repository", "processes"}}
WITHOUT_NAMESPACES = {"chmod", "fd-chmod", "privileged"}


def without(options, names):
    return [option for option in options if option not in names]


class Trial:
    """One run with one failing call."""

    def __init__(self, bench, role, when, error):
        self.bench, self.role, self.when, self.error = bench, role, when, error
        world = bench.world
        world.accept_all()
        if os.path.exists(world.record):
            os.unlink(world.record)
        command = [bench.inject, world.report, role, when, str(error), bench.pinfold, "run", "--record", world.record,
                   *[option.replace("~", world.home) for option in SCENARIOS[bench.scenario]], "--",
                   "sh", "-c", f'"$@"; exit {STATUS}', "sh", *world.command(bench.attempt, "in", bench.scenario)]
        with world.open_input() as stdin:
            self.run = subprocess.run(command, cwd=world.work, env=world.environment, stdin=stdin, capture_output=True,
                                      pass_fds=[world.left_open], text=True, errors="replace", check=False)
        with open(world.report, encoding="ascii") as file:
            self.calls = file.read().split("\n")[:-1]
        self.hit = next((line for line in self.calls if line.startswith("hit ")), None)

    def record(self):
        try:
            with open(self.bench.world.record, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def faults(self):
        answers = self.run.stdout.split("\n")[:-1]
        record = self.record()
        if answers or (record and record["ran"]):
            yield from self.judge_ran(answers, record)
        else:
            yield from self.judge_refused()
        yield from self.bench.leftovers()

    def judge_ran(self, answers, record):
        scenario = self.bench.scenario
        probes = self.bench.world.probes(scenario)
        held = {name: row["state"] for name, row in record["guarantees"].items()} if record else {}
        if len(answers) == len(probes):
            for (guarantee, probe), answer in zip(probes, answers):
                if answer == "OK" and (scenario == "landlock" or held.get(guarantee, "held") == "held"):
                    yield f"{' '.join(probe)} got through: {guarantee}"
        elif self.run.returncode != 128 + 9 and (answers or scenario != "landlock"): # where less may be visible
            yield f"the command was cut short: {answers}"
        for name, state in held.items():
            if state == "absent" or (state == "weaker" and name not in ("services", "limits") and scenario != "landlock"):
                yield f"ran with {name} {state}"
        # A pen that breaks down while the command runs ends it.
        if self.run.returncode not in (STATUS, 128 + 9):
            yield f"status {self.run.returncode} of a command that ran"
        if (self.run.returncode != STATUS or record is None) and not self.run.stderr and not self.is_mute():
            yield "not a word of what went wrong"

    def is_mute(self):
        """The failing call may have been the one that says so, or tells us."""
        if self.when.endswith(LASTING):
            return self.hit is not None and self.hit.endswith(f" {WRITE_CALL}")
        return self.hit in (f"hit supervisor {WRITE_CALL}", f"hit command {WRITE_CALL}")

    def judge_refused(self):
        lines = self.run.stderr.split("\n")[:-1]
        if self.run.returncode not in ((125, 126, 127) if self.role == "command" else (125,)):
            yield f"status {self.run.returncode} of a run that did not take place"
        if not lines and not self.is_mute():
            yield "not a word of why it did not run"
        if any(not line.startswith("pinfold: ") for line in lines):
            yield "not a clear line"
        if sum(not line.startswith("pinfold: hint: ") for line in lines) > 2:
            yield "more than one line"

    def show(self):
        print(f"{self.role}:{self.when}:{errno.errorcode.get(self.error, self.error)} ({self.hit}): status",
              self.run.returncode, "stdout", self.run.stdout.split(), "stderr", self.run.stderr.strip())


class Bench:
    def __init__(self, pinfold, inject, attempt, scratch, scenario):
        self.pinfold, self.inject, self.attempt, self.scenario = pinfold, inject, attempt, scenario
        self.world = World(scratch)
        self.failed = self.count = 0
        # Whoever of a run outlives it becomes our child.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.prove_probes()
        Trial(self, "supervisor", "0", 0)  # makes the private caches
        self.files = self.list_files()
        self.mounts = self.list_mounts()
        self.plain = Trial(self, "supervisor", "0", 0)
        self.expect_none(self.plain)

    def prove_probes(self):
        with self.world.open_input() as stdin:
            answers = subprocess.run(self.world.command(self.attempt, "out", self.scenario), cwd=self.world.work, stdin=stdin,
                                     env=self.world.environment, pass_fds=[self.world.left_open], text=True, check=True,
                                     stdout=subprocess.PIPE).stdout
        if answers.split() != ["OK"] * len(self.world.probes(self.scenario)):
            sys.exit(f"an attempt fails outside as well: {answers.split()}")
        self.world.forget("out")

    def list_files(self):
        return sorted(os.path.join(top, name) for top, names, files in os.walk(self.world.home) for name in names + files
                      if name != "record.json")

    def list_mounts(self):
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return sum("pinfold" in line and self.world.home in line for line in file)

    def leftovers(self):
        end = time.monotonic() + 5
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    if time.monotonic() > end:
                        yield "a process is left"
                        return
                    time.sleep(0.01)
            except ChildProcessError:
                break
        now = self.list_files()
        if now != self.files:
            yield f"files are left: {sorted(set(now) ^ set(self.files))}"
            self.world.forget("in")
        if self.list_mounts() != self.mounts:
            yield "a mount is left"

    def expect_none(self, trial):
        self.count += 1
        faults = list(trial.faults())
        if faults or trial.run.returncode == 124:
            self.failed += 1
            trial.show()
            for fault in faults:
                print("    FAULT:", fault)
            sys.stdout.flush()

    def chosen(self, extent):
        """The calls to be tried, as ROLE and N."""
        numbered, kinds = [], {}
        counts = dict.fromkeys(ROLES, 0)
        for line in self.plain.calls:
            role, call = line.split()
            counts[role] += 1
            numbered.append((role, counts[role]))
            kinds.setdefault((role, call), []).append((role, counts[role]))
        if extent != "some":
            return numbered
        return sorted({places[i] for places in kinds.values() for i in (0, len(places) // 2, -1)})

    def go(self, extent):
        for place, (role, number) in enumerate(self.chosen(extent)):
            for turn in range(FAILURES_EACH[extent]):
                error, how = FAILURES[(place + 3 * turn) % len(FAILURES)]
                self.expect_none(Trial(self, role, f"{number}{how}", error))
        print(f"{self.count} runs, {self.failed} with faults")
        return 1 if self.failed else 0


def main(words):
    pinfold, inject, attempt, scratch, scenario, extent = words[:6]
    try:
        bench = Bench(pinfold, inject, attempt, scratch, scenario)
        if len(words) == 6:
            return bench.go(extent)
        for word in words[6:]:
            role, when, error = word.split(":")
            trial = Trial(bench, role, when, getattr(errno, error))
            trial.show()
            bench.expect_none(trial)
        return 1 if bench.failed else 0
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
