# SPDX-License-Identifier: Apache-2.0
"""An agent's tool through the command line: runs a shell command with a policy of its own, streams its output, and
tells a refusal from a failure by the record.

    python3 agent.py 'make check'
"""
import json
import os
import subprocess
import sys
import tempfile

PINFOLD = os.environ.get("PINFOLD", "pinfold")


def run_command(command, policy, on_output, cwd=None):
    """Returns the record: "ran" says whether the command was executed, "exit" how it ended."""
    # Files without a name: nothing that the command does can reach them.
    with tempfile.TemporaryFile("w+") as config, tempfile.TemporaryFile("w+") as record:
        json.dump(policy, config)
        config.seek(0)
        with subprocess.Popen(
                [PINFOLD, "run", "--quiet", "--config", f"fd:{config.fileno()}", "--record", f"fd:{record.fileno()}",
                 "--", "sh", "-c", command], cwd=cwd, pass_fds=(config.fileno(), record.fileno()),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
            while data := child.stdout.read1(65536):
                on_output(data)
        record.seek(0)
        return json.load(record)


def describe(record):
    ending = record["exit"]
    if not record["ran"]:
        return f"[not run: {ending['message']}]"
    if ending["timed_out"]:
        return "[time is up]"
    return f"[ended by signal {ending['signal']}]" if ending["signal"] else f"[exit status {ending['code']}]"


def show(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: agent.py COMMAND [TIME]")
    limits = {"network": "offline", "time": sys.argv[2] if len(sys.argv) > 2 else "1m"}
    print(describe(run_command(sys.argv[1], limits, show)))
