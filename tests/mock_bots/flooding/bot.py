"""Prints `megabytes` (10^6 bytes) to `stream` as fast as it can, between a first and a last line."""

import json
import os

options = json.loads(os.environ["CROSSTOWN_OPTIONS"])
file = {"stdout": 1, "stderr": 2}[options["stream"]]
block = b"x" * 99_999 + b"\n"
os.write(file, b"first line\n")
for _ in range(options["megabytes"] * 10):
    left = block
    while left:
        left = left[os.write(file, left) :]
os.write(file, b"last line\n")
