"""What follows from all that a viewer has seen so far: enough to make a state that fits it.

An observation carries it as the bytes of the Ledger message, which are written and read here without protobuf's own
classes: a packed field of numbers below 128 is these numbers as bytes, after its key and its length.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

_PACKED = 2
_LONGEST = 1024
"""Longer than any column of a box that passes check_data."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Columns of small numbers, each a byte, in the order of their field numbers in the message.

    market.py, tickets.py and rules.py explain them; `evidence`, `debts` and `refusals` are written one entry after
    another, four, four and eight numbers each. `moment` is what a state needs beside it: whether the card being drawn
    is the second one, the tickets still to be drawn, what comes after the row (its place in stages.AFTER_ROW), and the
    flushes.
    """

    pools: bytes
    draws: bytes
    owners: bytes
    cards: bytes
    evidence: bytes
    debts: bytes
    refusals: bytes
    offer_seats: bytes
    offer_sizes: bytes
    offer_states: bytes
    offer_returned: bytes
    ticket_sources: bytes
    ticket_numbers: bytes
    under: bytes
    moment: bytes


COLUMNS = tuple(field.name for field in fields(Ledger))
WIDTHS = {"pools": 7, "evidence": 4, "debts": 4, "refusals": 8}
"""Numbers per entry, where more than one."""


def varint(value: int) -> bytes:
    """A number below 2^14 as protobuf writes it."""
    return bytes((value,)) if value < 128 else bytes((value % 128 + 128, value // 128))


def packed_keys(numbers: Sequence[int]) -> tuple[tuple[bytes, ...], ...]:
    """Per field number, and by length of its content, the bytes before a packed field or a message."""
    lengths = [varint(length) for length in range(_LONGEST)]
    return tuple(tuple(varint(number << 3 | _PACKED) + length for length in lengths) for number in numbers)


_KEYS = packed_keys(range(1, len(COLUMNS) + 1))
_POOLS, _DRAWS, _OWNERS, _CARDS, _EVIDENCE, _DEBTS, _REFUSALS, _SEATS, *_LATER = _KEYS
_SIZES, _STATES, _RETURNED, _SOURCES, _NUMBERS, _UNDER, _MOMENT = _LATER


def write_ledger(columns: Sequence[bytes | bytearray]) -> bytes:
    """The message, from the columns in order."""
    # Written out, since this runs at every decision.
    (
        pools,
        draws,
        owners,
        cards,
        evidence,
        debts,
        refusals,
        seats,
        sizes,
        states,
        returned,
        sources,
        numbers,
        under,
        now,
    ) = columns
    # fmt: off
    data = b"".join((
        _POOLS[len(pools)], pools, _DRAWS[len(draws)], draws, _OWNERS[len(owners)], owners, _CARDS[len(cards)], cards,
        _EVIDENCE[len(evidence)], evidence, _DEBTS[len(debts)], debts, _REFUSALS[len(refusals)], refusals,
        _SEATS[len(seats)], seats, _SIZES[len(sizes)], sizes, _STATES[len(states)], states,
        _RETURNED[len(returned)], returned, _SOURCES[len(sources)], sources, _NUMBERS[len(numbers)], numbers,
        _UNDER[len(under)], under, _MOMENT[len(now)], now,
    ))
    # fmt: on
    if data.isascii():  # so no number and no length needs two bytes
        return data
    wide = [b"".join([varint(number) for number in column]) for column in columns]
    return b"".join([part for keys, column in zip(_KEYS, wide, strict=True) for part in (keys[len(column)], column)])


def read_ledger(data: bytes) -> Ledger:
    """Inverse of `write_ledger`, for what it wrote."""
    columns = []
    at = 0
    for _ in COLUMNS:
        length, at = _read_varint(data, at + 1)
        column = data[at : at + length]
        columns.append(column if column.isascii() else _narrow(column))
        at += length
    return Ledger(*columns)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number there, and where it ends."""
    if data[at] < 128:
        return data[at], at + 1
    return data[at] % 128 + 128 * data[at + 1], at + 2


def _narrow(column: bytes) -> bytes:
    numbers = bytearray()
    at = 0
    while at < len(column):
        number, at = _read_varint(column, at)
        numbers.append(number)
    return bytes(numbers)
