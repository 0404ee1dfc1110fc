"""Plays on while it connects to the referee as often as it is told, and keeps every connection."""

import os
import socket
import time

from crosstown_bot import Bot, run

HELD = []
PATH = os.environ["CROSSTOWN_ADDRESS"].removeprefix("unix:")


class Greedy(Bot):
    wants_observation = wants_legal_actions = False

    def choose(self, turn):
        if not HELD:
            for number in range(self.options["connections"]):
                line = socket.socket(socket.AF_UNIX)
                line.settimeout(5)
                line.connect(PATH)
                HELD.append(line)
                if number % 20 == 0:
                    time.sleep(0.02)  # else the queue of the socket is full, and nothing is accepted
            print(f"{len(HELD)} asked for", flush=True)
        return 0


run(Greedy)
