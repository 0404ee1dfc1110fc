"""Bots as processes: manifest, entry, names, launch, guardian, output capture.

Knows nothing of games or matches. `bot.BotProcess` is the way in; `guardian.py` is a program of its own.
"""
