"""The rules, as pure libraries: no I/O, no clock, no bots.

`api` is the contract; one folder per game; `registry` finds them; `conformance` checks any of them.
"""
