"""A fork bomb that stops at `processes`: each forks the next and takes a session of its own; some lose their parent."""

import json
import os
import signal
import time

options = json.loads(os.environ["CROSSTOWN_OPTIONS"])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
depth = 0
while depth < options["processes"] and os.fork() == 0:
    depth += 1
    os.setsid()
    if depth % 3 == 0 and os.fork():
        os._exit(0)
if depth == options["processes"]:
    print("all there", flush=True)
time.sleep(600)
