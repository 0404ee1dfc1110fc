"""One run of a tournament: its folder, journal, records and lock, and the decisions of its organiser.

`run.Run` is what commands, pages, reports and the runner use.
"""
