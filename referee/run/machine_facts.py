"""What of a run comes from the machine and not from its file, as the journal has it for each bot."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Facts: TypeAlias = Mapping[str, Any]
"""Of one bot: profile, control groups, user (root or not), grants, build, runtime, `values` by the name of a variable
that is passed on, and `outside` by path."""

VALUE_OF = "value of "
"""Before the name of a variable."""

GROUPS = "control groups"
_NO_GROUPS = "none"

_NAMED = {"profile": "sandbox", "build": "build, toolchain"}


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
