"""Bots as processes: their manifest and files, builds, sandbox, guardian, limits and output.

It knows nothing of games or matches. Start reading at `bot.BotProcess`; `guardian` is a program of its own.
"""
