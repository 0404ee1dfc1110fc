"""What a chaos bot can do, when, on what terms, and what must come of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from referee.match import EndReason
from referee.process.cgroup import find
from referee.process.sandbox import Profile
from referee.schedule.spec import Policy

R = EndReason
BEFORE = ("start", "hello", "welcome", "match_start", "ready")
"""Phases in which no match has begun: what fails there is void. At `ready` the bot has said so, but another has not."""

WITHIN = ("first", "later", "off_turn")
AFTER = ("end", "bye")
PHASES = BEFORE + WITHIN + AFTER

DIES = {
    "exits": {"exit_code": 7},
    "exits_255": {"exit_code": 255},
    "raises": {"exit_code": 1},
    "killed": {"exit_signal": 9},
    "aborts": {"exit_signal": 6},
    "allocates": {"exit_code": 1},
}
"""How the process ends, as the evidence of the crash has it."""

STALLS = ("hangs", "spins", "freezes", "deaf")
HARMLESS = (
    *("floods_stdout", "forks_many", "double_forks", "fills_disk", "connects", "empty", "wrong_ids"),
    *("knocks", "locks", "guesses"),
)
MESSAGES = {
    "junk": R.MALFORMED_MESSAGE,
    "oversized": R.OVERSIZED_MESSAGE,
    "floods": R.WRONG_TURN_MESSAGE,
    "huge": R.OVERSIZED_MESSAGE,
    "huge_mute": R.OVERSIZED_MESSAGE,
}
CLOSES = ("closes", "closes_and_spins")
NEEDS_STREAM = (*MESSAGES, *CLOSES, "empty", "wrong_ids")
DEEDS = (
    *(*DIES, "gorges", "kills_parent", *STALLS, *MESSAGES, *CLOSES, "pings", *HARMLESS),
    *("steals", "under", "over", "twice"),
)
GOES_ON_AFTER = frozenset({R.MALFORMED_MESSAGE, R.OVERSIZED_MESSAGE, R.MOVE_TIMEOUT})
"""What a strike pays for, if the bot is still there."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a match is agreed on, as far as it matters for faults. `name` is for the names of tests."""

    name: str = ""
    players: int = 2
    policy: Policy = "forfeit"
    strikes: int = 0
    ponder: bool = True


USUAL = Terms()
MANY = 20
"""More strikes than a seat has decisions."""

OTHER_TERMS = (
    Terms("last strike", strikes=1),
    Terms("strikes", policy="default", strikes=MANY),
    Terms("default", policy="default"),
    Terms("random", policy="random"),
    Terms("three seats", players=3),
    Terms("three seats, random", players=3, policy="random", strikes=MANY),
    Terms("frozen", ponder=False),
    Terms("frozen, strikes", ponder=False, strikes=MANY),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a match must end, and the fault of the bot that misbehaved: one it left for, or that a strike paid for."""

    reason: EndReason
    fault: EndReason | None = None
    struck: bool = False
    rank: int | None = None
    """Of that bot; None is whatever the game says."""


NORMAL = Verdict(R.NORMAL)
VOID = Verdict(R.START_FAILED, R.START_FAILED)


@dataclass(frozen=True, slots=True)
class Case:
    """A deed at a phase, and the one verdict that is right."""

    deed: str
    phase: str
    verdict: Verdict = NORMAL
    terms: Terms = USUAL

    def __str__(self) -> str:
        return "-".join(filter(None, (self.deed, self.phase, self.terms.name)))

    @property
    def needs_the_others_unready(self) -> bool:
        """Whether it must not happen that all are ready before the deed is done."""
        return self.phase == "ready" and self.verdict == VOID

    @property
    def speaks_before_the_others_come(self) -> bool:
        """What is said between Welcome and MatchStart is dropped, and must be there by then."""
        return self.phase == "welcome" and self.deed in ("junk", "oversized")


def cases(profile: Profile) -> tuple[Case, ...]:
    """All deeds at all phases at which they have a meaning, and each deed of a bot in play on all other terms."""
    found = [
        Case(deed, phase, verdict) for deed in DEEDS for phase in PHASES if (verdict := expected(deed, phase, profile))
    ]
    return (*found, *_on_other_terms(profile))


def _on_other_terms(profile: Profile) -> Iterator[Case]:
    for number, deed in enumerate(DEEDS):
        for turn, terms in enumerate(OTHER_TERMS):
            phases = [phase for phase in WITHIN if expected(deed, phase, profile) and has_meaning(deed, phase, terms)]
            if not phases:
                continue
            phase = phases[(number + turn) % len(phases)]
            fault = expected(deed, phase, profile).fault
            if fault is not None or not terms.ponder:
                yield Case(deed, phase, NORMAL if fault is None else on_terms(deed, fault, terms), terms)


def has_meaning(deed: str, phase: str, terms: Terms) -> bool:
    if deed == "freezes" and not terms.ponder:
        return phase != "off_turn"  # who wakes a bot that was stopped off turn, wakes it from its own stop, too
    return deed != "over" or terms.strikes != 1  # whether it is awake for its next decision is a matter of luck


def expected(deed: str, phase: str, profile: Profile) -> Verdict | None:
    """What comes of it on the usual terms. None where the deed has no meaning at that phase."""
    if deed in NEEDS_STREAM and phase in ("start", "bye"):
        return None
    if deed == "closes_and_spins" and phase == "ready":
        return None  # it may have half a minute to exit, and nothing presses: another is not ready
    if deed == "steals" and phase in BEFORE and profile == "plain":
        return None  # whose session is open already cannot be robbed; before that only a sandbox protects
    if deed in ("under", "twice") and phase not in ("first", "later"):
        return None
    if deed in ("pings", "knocks") and phase not in WITHIN:
        return None  # before Hello there are other limits: see `test_frames.py`
    if deed == "guesses" and phase in ("start", "hello", "welcome"):
        return None  # it has seen nothing yet
    if deed == "over" and phase not in ("start", "hello", "match_start", "first", "later"):
        return None
    if deed in ("empty", "wrong_ids") and phase == "hello":
        return VOID
    if deed == "connects" and phase in ("start", "hello"):
        return VOID  # more connections than a bot may have before its session is open
    if deed in HARMLESS or deed in ("steals", "under", "twice") or phase in AFTER:
        return NORMAL
    if deed == "kills_parent" and profile == "strict":
        return NORMAL  # the only parent that it sees is the first process of its own sandbox
    if phase == "welcome" and deed in ("junk", "oversized"):
        return NORMAL
    if phase in BEFORE and not (phase == "ready" and deed in STALLS):
        return VOID
    return on_terms(deed, fault_of(deed), USUAL)


def fault_of(deed: str) -> EndReason:
    """The fault of a seat in play."""
    if deed in MESSAGES:
        return MESSAGES[deed]
    if deed in CLOSES or deed == "pings":
        return R.DISCONNECTED
    if deed == "gorges" and "memory" in find().controllers:
        return R.OUT_OF_MEMORY
    return R.MOVE_TIMEOUT if deed in STALLS or deed == "over" else R.CRASHED


def on_terms(deed: str, fault: EndReason, terms: Terms) -> Verdict:
    """What a fault in play comes to."""
    once = deed in ("junk", "oversized")
    if fault in GOES_ON_AFTER and deed not in ("huge", "huge_mute") and terms.strikes >= (1 if once else MANY):
        return Verdict(R.NORMAL, fault, struck=True)
    if terms.policy != "forfeit":
        return Verdict(R.NORMAL, fault)
    return Verdict(fault if terms.players == 2 else R.NORMAL, fault, rank=terms.players)
