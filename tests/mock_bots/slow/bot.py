"""Waits. On SIGTERM it says `saved` and exits with 0, unless it is stubborn."""

import json
import os
import signal
import sys
import time

options = json.loads(os.environ["CROSSTOWN_OPTIONS"])
if options["stubborn"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    # Blocked, for a handler would run only after a wait that begins just when the signal comes.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
sys.stdout.write("ready\n")
while options["stubborn"]:
    time.sleep(60)
signal.sigwait({signal.SIGTERM})
sys.stdout.write("saved\n")
