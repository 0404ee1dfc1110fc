"""Forks and exits without end, so that it never has one process id for long; with `sessions`, nor one group."""

import json
import os
import time

options = json.loads(os.environ["CROSSTOWN_OPTIONS"])
if os.fork():
    time.sleep(600)
while True:
    os.write(1, b".")
    if os.fork():
        os._exit(0)
    if options["sessions"]:
        os.setsid()
