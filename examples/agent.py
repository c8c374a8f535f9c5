# SPDX-License-Identifier: Apache-2.0
"""An agent's tool through the command line: runs a shell command with a policy of its own, streams its output, and
tells a refusal from a failure by the record.

    python3 agent.py 'make check'
"""
import contextlib
import json
import os
import subprocess
import sys
import threading

PINFOLD = os.environ.get("PINFOLD", "pinfold")


def run_command(command, policy, on_output, cwd=None):
    """Returns the record: "ran" says whether the command was executed, "exit" how it ended."""
    config_read, config_write = os.pipe()
    record_read, record_write = os.pipe()
    child = subprocess.Popen(
        [PINFOLD, "run", "--quiet", "--config", f"fd:{config_read}", "--record", f"fd:{record_write}",
         "--", "sh", "-c", command],
        cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        pass_fds=(config_read, record_write))
    os.close(config_read)
    os.close(record_write)
    record = []
    with contextlib.suppress(BrokenPipeError), open(config_write, "w", encoding="utf-8") as config:
        json.dump(policy, config)  # it may end before it has read all; the record then says why
    with open(record_read, encoding="utf-8") as source:
        # Beside the output: a long record must not wait for a reader that waits for it.
        reader = threading.Thread(target=lambda: record.append(json.load(source)))
        reader.start()
        for data in iter(lambda: child.stdout.read1(65536), b""):
            on_output(data)
        child.wait()
        reader.join()
    return record[0]


def describe(record):
    ending = record["exit"]
    if not record["ran"]:
        return f"[not run: {ending['message']}]"
    if ending["timed_out"]:
        return "[time is up]"
    return f"[ended by signal {ending['signal']}]" if ending["signal"] else f"[exit status {ending['code']}]"


def main():
    def show(data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    if len(sys.argv) < 2:
        sys.exit("usage: agent.py COMMAND [TIME]")
    policy = {"network": "offline", "time": sys.argv[2] if len(sys.argv) > 2 else "1m"}
    print(describe(run_command(sys.argv[1], policy, show)))


if __name__ == "__main__":
    main()
