"""Sleeps. On SIGTERM it says `saved` and exits with 0, unless it is stubborn."""

import json
import os
import signal
import sys
import time


def on_term(number: int, frame: object) -> None:
    sys.stdout.write("saved\n")
    sys.exit(0)


options = json.loads(os.environ["CROSSTOWN_OPTIONS"])
signal.signal(signal.SIGTERM, signal.SIG_IGN if options["stubborn"] else on_term)
sys.stdout.write("ready\n")
while True:
    time.sleep(60)
