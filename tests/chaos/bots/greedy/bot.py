"""Plays on while it connects to the referee as often as it is told, and keeps every connection."""

import os
import socket

from crosstown_bot import Bot, run

HELD = []
PATH = os.environ["CROSSTOWN_ADDRESS"].removeprefix("unix:")


class Greedy(Bot):
    wants_observation = wants_legal_actions = False

    def choose(self, turn):
        if not HELD:
            refused = 0
            for _ in range(self.options["connections"]):
                line = socket.socket(socket.AF_UNIX)
                line.settimeout(5)
                try:
                    line.connect(PATH)
                except ConnectionRefusedError:
                    refused += 1
                HELD.append(line)
            print(f"{refused} of {len(HELD)} refused", flush=True)
        return 0


run(Greedy)
