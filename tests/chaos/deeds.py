"""What a chaos bot can do, when, and what must come of it."""

from dataclasses import dataclass

from referee.match import EndReason

R = EndReason
BEFORE = ("start", "hello", "welcome", "match_start")
"""Phases in which no match has begun: what fails there is void."""

WITHIN = ("ready", "first", "later", "off_turn")
AFTER = ("end", "bye")
PHASES = BEFORE + WITHIN + AFTER

DIES = ("exits", "killed", "aborts", "raises", "allocates")
STALLS = ("hangs", "spins", "freezes", "deaf")
HARMLESS = (
    "floods_stdout",
    "forks_many",
    "double_forks",
    "fills_disk",
    "connects",
    "steals",
    "under",
    "empty",
    "wrong_ids",
)
MESSAGES = {
    "junk": R.MALFORMED_MESSAGE,
    "oversized": R.OVERSIZED_MESSAGE,
    "floods": R.WRONG_TURN_MESSAGE,
}
NEEDS_STREAM = (*MESSAGES, "huge", "empty", "wrong_ids")
NORMAL = frozenset({R.NORMAL})
VOID = frozenset({R.START_FAILED})


@dataclass(frozen=True, slots=True)
class Case:
    """A deed at a phase, and the end reasons that are right; `at_fault`: it is that bot's fault."""

    deed: str
    phase: str
    reasons: frozenset[EndReason]

    @property
    def at_fault(self) -> bool:
        return self.reasons != NORMAL

    def __str__(self) -> str:
        return f"{self.deed}-{self.phase}"


def expected(deed: str, phase: str) -> frozenset[EndReason] | None:
    """None where the deed has no meaning at that phase."""
    if deed in NEEDS_STREAM and phase in ("start", "bye"):
        return None
    if deed == "steals" and phase in BEFORE:
        return None  # whose session is open already cannot be robbed; before that only a sandbox protects
    if deed in ("under", "over", "twice") and phase != "later":
        return None
    if deed in ("empty", "wrong_ids") and phase == "hello":
        return VOID
    if deed == "over":
        return frozenset({R.MOVE_TIMEOUT})
    if deed in HARMLESS or deed == "twice" or phase in AFTER:
        return NORMAL
    if phase == "welcome" and deed in MESSAGES:
        return VOID if deed == "floods" else NORMAL | VOID  # dropped, if it is there before MatchStart
    if phase in BEFORE:
        return VOID
    if deed in MESSAGES:
        found = frozenset({MESSAGES[deed]})
    elif deed == "huge":
        # what the bot was told, it may not have printed before its process ended
        found = frozenset({R.OVERSIZED_MESSAGE, R.CRASHED, R.DISCONNECTED})
    else:
        found = frozenset({R.CRASHED} if deed in DIES else {R.MOVE_TIMEOUT})
    # Just after its own Ready the match has begun only if all others have said so, too.
    return found | VOID if phase == "ready" and deed not in STALLS else found


DEEDS = (*DIES, *STALLS, *MESSAGES, "huge", *HARMLESS, "over", "twice")
CASES = tuple(
    Case(deed, phase, reasons) for deed in DEEDS for phase in PHASES if (reasons := expected(deed, phase)) is not None
)
