"""The number of files and connections that this process may have open."""

import resource

MOST_FILES = 65_536
"""As many as any number of bots or connections needs. Not all that a host may allow: who inherits a limit of a billion
may try to close each of them."""


def raise_file_limit() -> None:
    """Raise the soft limit, mostly 1,024, which is for programs that want few: a bot takes some ten of a worker, and
    servers may have more connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
