"""The Observation and LegalActions messages, written without protobuf's own classes: several times as fast.

A packed field of numbers below 128 is these numbers as bytes, after its key and its length. What has larger numbers,
or the rare fields of the end of a match, is left to codec.py, as None; the tests compare the two ways.
"""

from referee.games.ticket_to_ride_new_york.ledger import packed_keys, varint
from referee.games.ticket_to_ride_new_york.observation import Observation

_SCALARS = range(2, 10)
"""Field numbers, one byte of key each; field 1, the viewer, is absent for a spectator."""
_HEAD = b"".join(varint(number << 3) + b"\0" for number in _SCALARS)
_VIEWER = varint(1 << 3)
_ASKED, _LEFT, _PASSED, _ROW, _DISCARDS, _ASIDE, _OWNER, _TAXIS = packed_keys(range(16, 24))
_HANDS, _COUNTS, _KNOWN, _HAND, _TICKETS, _OFFERED, _UNDER, _LEDGER = packed_keys(range(24, 32))
_COLUMNS = 4
_KIND, _CARD, _NUMBER, _OTHER = packed_keys(range(1, _COLUMNS + 1))


def pack_observation(seen: Observation, stage: int) -> bytes | None:
    """`stage` is the number of the enum. None if it has to be written the long way."""
    if seen.scores or seen.box or seen.epoch > 127:
        return None
    # With a shipped box no other number exceeds 127.
    head = bytearray(_HEAD)
    head[1::2] = (
        seen.players,
        stage,
        seen.turn_seat,
        seen.first_seat,
        seen.last_turns,
        seen.deck_size,
        seen.epoch,
        seen.unknown_tickets,
    )
    if seen.viewer is not None:
        head += _VIEWER
        head.append(seen.viewer)
    owner = bytearray([seat + 1 for seat in seen.owner])
    return b"".join(
        (
            head,
            _ASKED[len(seen.asked)],
            bytes(seen.asked),
            _LEFT[len(seen.left)],
            bytes(seen.left),
            _PASSED[len(seen.passed)],
            bytes(seen.passed),
            _ROW[len(seen.row)],
            bytes(seen.row),
            _DISCARDS[len(seen.discards)],
            bytes(seen.discards),
            _ASIDE[len(seen.aside)],
            bytes(seen.aside),
            _OWNER[len(owner)],
            owner,
            _TAXIS[len(seen.taxis)],
            bytes(seen.taxis),
            _HANDS[len(seen.hand_sizes)],
            bytes(seen.hand_sizes),
            _COUNTS[len(seen.ticket_counts)],
            bytes(seen.ticket_counts),
            _KNOWN[len(seen.known)],
            bytearray(seen.known),
            _HAND[len(seen.hand)],
            bytes(seen.hand),
            _TICKETS[len(seen.tickets)],
            bytes(seen.tickets),
            _OFFERED[len(seen.offered)],
            bytes(seen.offered),
            _UNDER[len(seen.under)],
            bytes(seen.under),
            _LEDGER[len(seen.ledger)],
            seen.ledger,
        )
    )


def pack_legal(rows: bytes) -> bytes:
    """From kind, card, number and other of each action, one action after another, all below 128."""
    size = len(rows) // _COLUMNS
    return b"".join(
        (
            _KIND[size],
            rows[0::_COLUMNS],
            _CARD[size],
            rows[1::_COLUMNS],
            _NUMBER[size],
            rows[2::_COLUMNS],
            _OTHER[size],
            rows[3::_COLUMNS],
        )
    )
