"""Tournaments: the file, the schedule, the journal, and the runner that plays what is missing.

Everything is derived from a run folder: `tournament.jsonl` (control events) and one record per match in `matches/`.
"""
