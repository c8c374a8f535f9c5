#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dead_mount.py DIR UID: mounts a FUSE file system of this user at DIR whose server answers nothing, until it is killed."""
import ctypes
import os
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
place, uid = os.fsencode(sys.argv[1]), sys.argv[2]
fd = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fd},rootmode=40000,user_id={uid},group_id={uid}".encode()
if libc.mount(b"dead", place, b"fuse", 0, options) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
signal.pause()
