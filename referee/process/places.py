"""Paths that are the same in every sandbox."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Always there, read-only."""

HOME = "/tmp"  # noqa: S108 - private to each bot
"""What a bot's HOME and TMPDIR are: a small file system in memory, its own."""
