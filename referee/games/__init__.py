"""The rules, as pure libraries: no I/O, no clock, no bots.

`api` is the contract; `registry` finds the games; `conformance` checks any of them; `drawing` has the parts of boards.
One folder per game, with the same files in each: docs/architecture.md says what is where.
"""
