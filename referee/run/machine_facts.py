"""What of a run comes from the machine and not from its file, for each bot: as the journal has it, or the headers of
records of what a cluster has played."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from referee.process.fact_names import path_in
from referee.record.format import RecordError, SeatHeader
from referee.record.reader import read_header
from referee.record.store import RecordStore

Facts: TypeAlias = Mapping[str, Any]
"""Of one bot: profile, control groups, user (root or not), grants, build, runtime, `values` by the name of a variable
that is passed on, and `outside` by path."""

VALUE_OF = "value of "
"""Before the name of a variable."""

GROUPS = "control groups"
_NO_GROUPS = "none"

_SYSTEM = ("/usr/", "/bin/", "/lib")
"""Folders of the system, whose files change with its updates."""

LAST_HEADERS = 100
"""So many are read for bots of which the journal says nothing: those of the last records."""

SANDBOX, BUILD, RUNTIME = "sandbox", "build, toolchain", "runtime"
"""What people read for profile, build and runtime."""

_NAMED = {"profile": SANDBOX, "build": BUILD}


def flat_facts(facts: Facts) -> dict[str, str]:
    """Each fact under the name that people read: 'sandbox', 'value of NAME', the path of a file."""
    flat = {_NAMED.get(name, name): str(value) for name, value in facts.items() if name not in ("outside", "values")}
    flat |= {f"{VALUE_OF}{name}": str(digest) for name, digest in facts.get("values", {}).items()}
    return flat | {str(path): str(content) for path, content in facts.get("outside", {}).items()}


def groups_words(controllers: Sequence[str]) -> str:
    """The fact on the control groups that hold the limits of a bot; inverse of `controllers_of`."""
    return ", ".join(controllers) or _NO_GROUPS


def controllers_of(facts: Facts) -> tuple[str, ...]:
    """Those of the control groups that have held the limits of a bot; none where an older version did not keep it."""
    return tuple(name for name in facts.get(GROUPS, _NO_GROUPS).split(", ") if name != _NO_GROUPS)


def makes_another(what: str) -> bool:
    """Whether a change of this fact may make a bot another one: its sandbox, a value that it is granted, and files
    outside of its folder do; what the system updates does not."""
    path = path_in(what)
    return what == "sandbox" or what.startswith(VALUE_OF) or (path.startswith("/") and not path.startswith(_SYSTEM))


def most_memory_words(mib: int) -> str:
    """Of `JournalText.most_memory_mib`."""
    return f"{mib} MiB" if mib else "as in the file"


def facts_of_seat(seat: SeatHeader) -> dict[str, str]:
    """The facts that a header has of a bot, flat. Not the values of variables, nor who the user is."""
    named = {"profile": seat.sandbox.partition(",")[0], "build": seat.build, "runtime": seat.runtime}
    return flat_facts({**{name: value for name, value in named.items() if value}, "outside": seat.outside})


def facts_in_headers(records: RecordStore, entry_ids: Collection[str]) -> dict[str, dict[str, str]]:
    """The same of these bots in the last records. What differs between machines, or has changed, is joined by 'or'."""
    found: dict[str, dict[str, set[str]]] = {}
    for path in records.last_paths(LAST_HEADERS) if entry_ids else ():
        with suppress(RecordError):
            for seat in read_header(path).seats:
                for what, value in facts_of_seat(seat).items() if seat.entry_id in entry_ids else ():
                    found.setdefault(seat.entry_id, {}).setdefault(what, set()).add(value)
    return {
        entry_id: {what: " or ".join(sorted(values)) for what, values in facts.items()}
        for entry_id, facts in found.items()
    }
