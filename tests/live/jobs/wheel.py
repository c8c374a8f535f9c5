# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel, pinfold_greeting-1.2.3-py3-none-any.whl, to the folder that is named."""
import os
import sys
import zipfile

STEM = "pinfold_greeting-1.2.3"
FILES = {
    "pinfold_greeting.py": "def greet(who):\n    return f'hello, {who}'\n",
    f"{STEM}.dist-info/METADATA": "Metadata-Version: 2.1\nName: pinfold-greeting\nVersion: 1.2.3\n",
    f"{STEM}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}

with zipfile.ZipFile(os.path.join(sys.argv[1], f"{STEM}-py3-none-any.whl"), "w") as wheel:
    for name, text in FILES.items():
        wheel.writestr(name, text)
    record = f"{STEM}.dist-info/RECORD"
    wheel.writestr(record, "".join(f"{name},,\n" for name in [*FILES, record]))
