"""Prints to both streams, then exits with `code` or, if `signal` is not 0, dies by it."""

import json
import os
import sys

options = json.loads(os.environ["CROSSTOWN_OPTIONS"])
print("last words")
print("Traceback: something broke", file=sys.stderr)
if options["signal"]:
    os.kill(os.getpid(), options["signal"])
sys.exit(options["code"])
