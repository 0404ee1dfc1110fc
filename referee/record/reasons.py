"""Why a match ended: a closed set, and what each means for the rating."""

from enum import StrEnum
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["rated", "void", "cancelled"]


class EndReason(StrEnum):
    """The words of records, tables and messages."""

    NORMAL = "normal"
    ADJUDICATED = "adjudicated"
    # A seat's own fault: rated, evidence kept.
    RESIGNED = "resigned"
    ILLEGAL_ACTION = "illegal_action"
    MALFORMED_MESSAGE = "malformed_message"
    OVERSIZED_MESSAGE = "oversized_message"
    WRONG_TURN_MESSAGE = "wrong_turn_message"
    MOVE_TIMEOUT = "move_timeout"
    BANK_EXHAUSTED = "bank_exhausted"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    DISCONNECTED = "disconnected"
    PROVIDER_ERROR = "provider_error"
    EVERYONE_FAULTED = "everyone_faulted"
    # Void: the match says nothing about who plays better.
    START_FAILED = "start_failed"
    SUSPECT_TIMEOUT = "suspect_timeout"
    PROVIDER_ERROR_VOID = "provider_error_void"
    PLATFORM_FAULT = "platform_fault"
    # Nobody's.
    CANCELLED = "cancelled"


OWN_FAULTS = frozenset(
    {
        EndReason.RESIGNED,
        EndReason.ILLEGAL_ACTION,
        EndReason.MALFORMED_MESSAGE,
        EndReason.OVERSIZED_MESSAGE,
        EndReason.WRONG_TURN_MESSAGE,
        EndReason.MOVE_TIMEOUT,
        EndReason.BANK_EXHAUSTED,
        EndReason.CRASHED,
        EndReason.OUT_OF_MEMORY,
        EndReason.DISCONNECTED,
        EndReason.PROVIDER_ERROR,
    }
)
"""What one seat did wrong; the match is rated."""

TIMED_OUT = (EndReason.MOVE_TIMEOUT, EndReason.BANK_EXHAUSTED)
"""Those of a decision that took too long. Not a set: what a damaged record gives as a reason need not have a hash."""

_VOID = frozenset(
    {
        EndReason.START_FAILED,
        EndReason.SUSPECT_TIMEOUT,
        EndReason.PROVIDER_ERROR_VOID,
        EndReason.PLATFORM_FAULT,
    }
)


def is_fault(reason: str) -> bool:
    """Whether a seat that ended with this reason did something wrong: to resign ends a match and is no fault."""
    return reason not in ("", EndReason.RESIGNED)


def status_of(reason: EndReason) -> Status:
    """Whether a match that ended so counts."""
    if reason is EndReason.CANCELLED:
        return "cancelled"
    return "void" if reason in _VOID else "rated"
