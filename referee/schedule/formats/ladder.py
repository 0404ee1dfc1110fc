"""Ladder: a run that does not end. Who is there, and which match ends first, decide who meets whom. So every block is
an event of the journal, which `referee.ladder` decides, and the schedule takes the blocks from there.
"""

from referee.schedule.formats.api import Extent, Field, Format, Plan

NAME = "ladder"


def plan(_field: Field) -> Plan:
    """No block of its own."""
    yield from ()
    return []


FORMAT = Format(
    NAME,
    "a ladder's division",
    (),
    plan,
    lambda _field: Extent(0, 0),
    lambda _field: "",
    uses_results=False,
    journalled=True,
)
