#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oci.py podman|docker BUNDLE DIRECTORY WRITABLE COMMAND...

Writes BUNDLE/config.json for an OCI runtime (crun): a container as Podman or Docker makes it by default, with its
seccomp profile, capabilities, masked and read-only parts of /proc, and the host's system read-only in it. The profile is
Podman's, from its package; Docker's is the same in what matters here but for what it lets only CAP_SYS_ADMIN do.
The project DIRECTORY is shown read-only, WRITABLE as it is and as the current directory.
"""
import json
import os
import sys

PROFILE = "/usr/share/containers/seccomp.json"
CAPABILITIES = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_NET_BIND_SERVICE", "CAP_SETFCAP",
                "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT"]
MASKED = ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
          "/proc/timer_list", "/proc/timer_stats", "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def applies(rule):
    """The profile's conditions, for these capabilities on x86_64."""
    wanted, unwanted = rule.get("includes") or {}, rule.get("excludes") or {}
    held = set(CAPABILITIES)
    return not (set(wanted.get("caps", [])) - held or set(unwanted.get("caps", [])) & held or
                ("arches" in wanted and "amd64" not in wanted["arches"]) or "amd64" in unwanted.get("arches", []))


# Docker answers EPERM to these without CAP_SYS_ADMIN, to clone3 ENOSYS, and to clone with a namespace's flag EPERM.
NOT_DOCKER = {"unshare", "setns", "mount", "umount", "umount2", "pivot_root", "fsconfig", "fsmount", "fsopen", "fspick",
              "move_mount", "open_tree", "mount_setattr", "clone", "clone3", "keyctl", "add_key", "request_key"}
NAMESPACE_FLAGS = 0x7E020000


def dockers(rules):
    for rule in rules:
        rule["names"] = [name for name in rule["names"] if name not in NOT_DOCKER]
    return [rule for rule in rules if rule["names"]] + [
        {"names": ["clone"], "action": "SCMP_ACT_ALLOW",
         "args": [{"index": 0, "value": NAMESPACE_FLAGS, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}]},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
    ]


def seccomp(kind):
    with open(PROFILE, encoding="utf-8") as file:
        profile = json.load(file)
    rules = [{key: rule[key] for key in ("names", "action", "errnoRet", "args") if rule.get(key)}
             for rule in profile["syscalls"] if applies(rule)]
    if kind == "docker":
        rules = dockers(rules)
    result = {"defaultAction": profile["defaultAction"], "syscalls": rules,
              "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]}
    result["defaultErrnoRet"] = 1 if kind == "docker" else profile.get("defaultErrnoRet", 1)
    return result


def bind(path, writable=False):
    return {"destination": path, "type": "bind", "source": path, "options": ["rbind", "rw" if writable else "ro"]}


def config(kind, directory, writable, command):
    system = [path for path in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc") if os.path.exists(path)]
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": 0, "gid": 0}, "args": command, "cwd": writable,
            "env": [f"{name}={os.environ[name]}" for name in ("PATH", "HOME", "PINFOLD", "ATTEMPT")],
            "capabilities": {kind: CAPABILITIES for kind in ("bounding", "effective", "permitted")},
        },
        "root": {"path": "rootfs", "readonly": True},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
             "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]},
            *[bind(path) for path in system], bind(directory), bind(writable, True),
        ],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")],
                  "seccomp": seccomp(kind), "maskedPaths": MASKED, "readonlyPaths": READ_ONLY},
    }


def main():
    kind, bundle, directory, writable, *command = sys.argv[1:]
    os.makedirs(bundle + "/rootfs", exist_ok=True)
    with open(bundle + "/config.json", "w", encoding="utf-8") as file:
        json.dump(config(kind, directory, writable, command), file)


main()
