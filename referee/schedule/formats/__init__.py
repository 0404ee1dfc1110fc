"""Formats: who meets whom, and when. A format is a pure function of (field, results so far) that yields blocks lazily.

`api` is the contract, `registry` finds formats by name (others' through the entry-point group `crosstown.formats`).
"""
