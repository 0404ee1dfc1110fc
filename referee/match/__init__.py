"""One match: its specification, seats, clocks, faults, result and record.

`Table` plays matches with real bot processes; `play` is the same with any seats, which is how it is tested.
"""
