"""Holds the garbage collector back where many values are made that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """While many values are made, none of which can be garbage, the collector would only look at them over and over."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def begin_collection() -> None:
    """Collect garbage from now on, but leave alone what was made until now: modules and settings, which stay."""
    gc.freeze()
    gc.enable()
