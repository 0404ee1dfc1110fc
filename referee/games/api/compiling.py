"""What rules say to mypyc, which compiles them on request (see hatch_build.py). In plain Python it means nothing.

A method that checks the type of an argument declares it as Any: compiled code raises TypeError for any other type than
the declared one before the method's own check can raise IllegalAction, and takes True for the integer 1.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64, mypyc_attr
else:
    i64 = int

    def mypyc_attr(**_attributes):
        return lambda cls: cls


__all__ = ["i64", "mypyc_attr"]
