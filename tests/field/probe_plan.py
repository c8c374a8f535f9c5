#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""probe_plan.py PINFOLD DIR...

Compares what the plan says of every file below DIRs with what a run may really do to it (F043). Of the plan only what
is printed is read: the mounts in their order, the last one that covers a path deciding, and the names that the home's
overlay leaves out.
"""
import json
import os
import subprocess
import sys

SCRIPT = """
for file; do
	r=no w=no
	read -r line <"$file" && [ -n "$line" ] && r=yes
	true >>"$file" && w=yes
	echo "$r $w $file"
done 2>/dev/null
exit 0
"""


def is_in(path, top):
    return path == top or path.startswith(top.rstrip("/") + "/")


def links(plan):
    return {mount["path"]: mount["text"] for mount in plan["mounts"] if mount["operation"] == "link"}


def leads_to_copy(plan, target):
    """A link that lies over git's configuration: to a file of the private temp, in a directory that can be written."""
    places = [mount for mount in plan["mounts"] if mount["operation"] == "bind" and is_in(target, mount["path"])]
    files = [mount["path"] for mount in plan["mounts"] if mount["operation"] == "file"]
    last = places[-1]
    return f"{last['from']}/{os.path.relpath(target, last['path'])}" in files and "readonly" not in last["attributes"]


def said(plan, path):
    """(readable, writable) by the printed mounts."""
    readable, writable = True, True
    for mount in plan["mounts"]:
        kind, place = mount["operation"], mount["path"]
        is_fixed = "readonly" in mount.get("attributes", [])
        if kind == "readonly":
            writable = False
        elif kind == "overlay" and is_in(path, place):
            readable, writable = True, False
            below = os.path.relpath(path, place)
            for other in plan["mounts"]:
                if other["operation"] == "whiteout" and is_in(below, os.path.relpath(other["path"], mount["from"])):
                    readable = False
        elif kind == "bind" and is_in(path, place):
            # A source is a path of the host; without one it comes from the private temp and holds nothing of it.
            readable = "source" in mount and is_in(path, mount["source"])
            writable = readable and not is_fixed
            if mount.get("from") in links(plan):
                readable = writable = leads_to_copy(plan, links(plan)[mount["from"]])
    return readable, writable


def done(pinfold, files):
    output = subprocess.run([pinfold, "run", "--", "sh", "-c", SCRIPT, "sh", *files], check=True, capture_output=True,
                            text=True).stdout
    words = (line.split(" ", 2) for line in output.splitlines())
    return {path: (readable == "yes", writable == "yes") for readable, writable, path in words}


def main():
    pinfold, *tops = sys.argv[1:]
    files = sorted(os.path.join(top, name) for dir in tops for top, _, names in os.walk(dir) for name in names)
    files = [file for file in files if os.path.getsize(file) and "/.git/objects/" not in file]
    plan = json.loads(subprocess.run([pinfold, "run", "--plan", "--json", "--", "true"], check=True,
                                     capture_output=True).stdout)
    real = done(pinfold, files)
    different = {file: (said(plan, file), real[file]) for file in files if said(plan, file) != real[file]}
    for file, (plans, kernels) in different.items():
        print(f"{file}: (readable, writable) is said to be {plans} and is {kernels}")
    kinds = set(real.values())
    if different or kinds != {(True, True), (True, False), (False, False)}:
        sys.exit(f"seen: {sorted(kinds)}")
    print(f"no difference in {len(files)} files")


main()
