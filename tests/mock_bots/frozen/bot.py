"""Stops itself, as if somebody had pressed Ctrl-Z."""

import os
import signal

print("stopping", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
print("continued", flush=True)
signal.pause()
