"""A ladder: divisions that never end, the bots that are handed in to them, matchmaking, and the runner.

Each division is a run folder. Owners, tokens and hand-ins lie in `ladder.db`; everything rated lies in the journals.
"""
