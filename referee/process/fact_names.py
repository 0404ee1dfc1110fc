"""What files outside of a bot's folder are called in headers and journals, where that is not their path alone."""

OUR_PACKAGES = "packages of Crosstown"
"""In place of a path: what `{python}` imports of ours, the referee's own code too."""

PACKAGES_OF = "packages of "
"""Before the folder of another Python, such as a virtual environment: what is installed for it."""

BESIDE = "modules beside "
"""Before the path of a script outside: the sources in its folder, which it may import."""


def path_in(what: str) -> str:
    """The path in such a name."""
    return what.removeprefix(PACKAGES_OF).removeprefix(BESIDE)
