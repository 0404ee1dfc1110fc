"""A bot that passes the questions on to any program that can read and print a line: as JSON, or as text for people.

`crosstown bridge -- COMMAND`, or `{python} -m crosstown_bridge -- COMMAND` in a bot.toml. `crosstown docs bridge` has
the lines.
"""

from crosstown_bridge.bridge import ENGINES, main

__all__ = ["ENGINES", "main"]
