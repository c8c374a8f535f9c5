#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An npm registry with one package, on loopback.

    registry.py FOLDER

FOLDER gets: port (the port it listens on, written last), log (one line for each request). The package is made here, so
that nothing has to be downloaded; `registry.py --lock PORT` prints the package-lock.json of a project that wants it.
"""
import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile

NAME, VERSION = "pinfold-greeting", "1.2.3"
FILES = {
    "package.json": json.dumps({"name": NAME, "version": VERSION, "main": "index.js"}),
    "index.js": "module.exports = (who) => `hello, ${who}`;\n",
}


def tarball():
    """The same bytes each time, since the lock file names their hash."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in FILES.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(data.getvalue(), mtime=0)


def version(port):
    digest = base64.b64encode(hashlib.sha512(tarball()).digest()).decode()
    return {"name": NAME, "version": VERSION, "dist": {
        "tarball": f"http://127.0.0.1:{port}/{NAME}/-/{NAME}-{VERSION}.tgz", "integrity": f"sha512-{digest}"}}


def lock(port):
    dist = version(port)["dist"]
    return {"name": "job", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": {
        "": {"name": "job", "version": "1.0.0", "dependencies": {NAME: VERSION}},
        f"node_modules/{NAME}": {"version": VERSION, "resolved": dist["tarball"], "integrity": dist["integrity"]}}}


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        port = self.server.server_address[1]
        answers = {
            f"/{NAME}": json.dumps({"name": NAME, "dist-tags": {"latest": VERSION},
                                    "versions": {VERSION: version(port)}}).encode(),
            f"/{NAME}/-/{NAME}-{VERSION}.tgz": tarball(),
        }
        body = answers.get(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    do_POST = do_GET

    def log_message(self, *_):
        with open(os.path.join(sys.argv[1], "log"), "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path}\n")


def main():
    if sys.argv[1] == "--lock":
        print(json.dumps(lock(sys.argv[2]), indent=2))
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    with open(os.path.join(sys.argv[1], "port"), "w", encoding="utf-8") as port:
        port.write(str(server.server_address[1]))
    server.serve_forever()


main()
