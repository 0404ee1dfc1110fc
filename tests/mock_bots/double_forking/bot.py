"""Leaves a daemon: forked twice, in a session of its own, deaf to SIGTERM and SIGHUP, holding stdout open.

With `scrub` the daemon executes a program without any environment; with `work_ms` it prints `worked` after that time
and exits. Without `stay` the bot itself exits at once.
Prints the daemon's process id.
"""

import json
import os
import signal
import sys
import time

options = json.loads(os.environ["CROSSTOWN_OPTIONS"])
read_end, write_end = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.write(write_end, b"%d\n" % os.getpid())
        if options["scrub"]:
            os.execve("/bin/sleep", ["sleep", "600"], {})
        time.sleep(options["work_ms"] / 1000 or 600)
        os.write(1, b"worked\n")
    os._exit(0)
os.wait()
said = os.read(read_end, 100).decode().strip()
os.close(write_end)
if options["scrub"]:
    os.read(read_end, 1)  # ends when the daemon's program begins, which closes its side
print(said)
sys.stdout.flush()
if options["stay"]:
    time.sleep(600)
