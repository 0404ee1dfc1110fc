"""The 8x8 fields as bits of one integer.

Field (x, y), x left to right and y bottom to top, has the index x + 8*y and the bit 1 << (x + 9*y): the empty
ninth column keeps shifts from running over the edge. Slot (X, Y), two fields wide and high, has the index X + 4*Y.
"""

from typing import Final

from referee.games.api.compiling import i64

SIDE: Final = 8
FIELDS: Final = SIDE * SIDE
SLOTS_PER_SIDE: Final = 4
SLOTS: Final = SLOTS_PER_SIDE * SLOTS_PER_SIDE
STRIDE: Final = SIDE + 1
BOARD_BITS: Final = STRIDE * SIDE
"""Number of the first bit above the board."""

FIELD_BITS: Final = tuple(1 << (i % SIDE + STRIDE * (i // SIDE)) for i in range(FIELDS))
"""Field index to bit."""
FIELD_OF_BIT: Final = {bit: i for i, bit in enumerate(FIELD_BITS)}
"""Bit to field index."""

CORNER_OFFSETS: Final = ((0, 1), (1, 1), (1, 0), (0, 0))
"""(dx, dy) of a tile's fields within its slot, clockwise from the top left corner."""
CORNER_BITS: Final = tuple(1 << (dx + STRIDE * dy) for dx, dy in CORNER_OFFSETS)
SLOT_SHIFTS: Final = tuple(2 * (s % SLOTS_PER_SIDE) + STRIDE * 2 * (s // SLOTS_PER_SIDE) for s in range(SLOTS))
"""How far a pattern of `CORNER_BITS` is shifted to lie on a slot."""
SLOT_MASKS: Final = tuple(sum(CORNER_BITS) << shift for shift in SLOT_SHIFTS)
SLOT_FIELDS: Final = tuple(tuple(FIELD_OF_BIT[bit << shift] for bit in CORNER_BITS) for shift in SLOT_SHIFTS)
"""Per slot its four field indices, clockwise from the top left corner."""
SLOT_OF_FIELD: Final = tuple(i % SIDE // 2 + SLOTS_PER_SIDE * (i // SIDE // 2) for i in range(FIELDS))
BIT_AT: Final = (0, *(1 << number for number in range(BOARD_BITS)))
"""`mask.bit_length()` to the highest bit of a mask."""
FIELD_AT: Final = tuple(FIELD_OF_BIT.get(bit, -1) for bit in BIT_AT)
"""`mask.bit_length()` to the index of its highest field."""
TILE_AT: Final = tuple(SLOT_MASKS[SLOT_OF_FIELD[i]] if i >= 0 else 0 for i in FIELD_AT)
"""`mask.bit_length()` to the mask of the four fields on the tile of its highest field."""

_SLOT_CORNERS: Final = sum(1 << shift for shift in SLOT_SHIFTS)
_WHOLE_TILE: Final = sum(CORNER_BITS)


def mask_of(fields: tuple[int, ...] | list[int]) -> int:
    """The mask of these field indices."""
    return sum(FIELD_BITS[i] for i in fields)


def fields_of(mask: int) -> tuple[int, ...]:
    """The field indices of a mask, ascending."""
    found = []
    while mask:
        length = mask.bit_length()
        mask ^= BIT_AT[length]
        found.append(FIELD_AT[length])
    found.reverse()
    return tuple(found)


def tiles_of(mask: int) -> int:
    """All fields of the slots on which `mask` has a field."""
    mask |= mask >> 1
    mask |= mask >> STRIDE
    return (mask & _SLOT_CORNERS) * _WHOLE_TILE


def neighbours_of(mask: int) -> int:
    """The fields orthogonally next to `mask`; bits off the board may be set too."""
    return mask << 1 | mask >> 1 | mask << STRIDE | mask >> STRIDE


_NEXT: Final = {bit: neighbours_of(bit) for bit in FIELD_BITS}


def flood(seed: int, region: int) -> int:
    """`seed`, one bit, and every field of `region` connected to it orthogonally through `region`, without `seed`."""
    if COMPILED:
        return flood_in_words(seed, region)
    reached = seed
    edge = _NEXT[seed] & region
    while edge:
        reached |= edge
        region ^= edge
        edge = (edge << 1 | edge >> 1 | edge << STRIDE | edge >> STRIDE) & region
    return reached


COMPILED: Final = type(flood).__name__ != "function"
"""Whether this module is compiled. Machine words are then quicker than Python's integers, of which a board has 72 bits;
not compiled, they are slower."""
_HALF: Final = 36
_LOW: Final = (1 << _HALF) - 1
_PART: Final = 30
_LOGARITHMS: Final = [next((bit for bit in range(_PART) if (1 << bit) % 37 == rest), 0) for rest in range(37)]
"""Powers of two differ modulo 37."""


def flood_in_words(seed: int, region: int) -> int:
    """The same as `flood`: the four lower rows in one word, the four upper rows in another."""
    low_region: i64 = region & _LOW
    high_region: i64 = region >> _HALF
    low_edge: i64 = seed & _LOW
    high_edge: i64 = seed >> _HALF
    low: i64 = low_edge
    high: i64 = high_edge
    while low_edge != 0 or high_edge != 0:
        up: i64 = low_edge >> 27
        down: i64 = high_edge << 27
        low_edge = (low_edge << 1 | low_edge >> 1 | low_edge << 9 | low_edge >> 9 | down) & low_region
        high_edge = (high_edge << 1 | high_edge >> 1 | high_edge << 9 | high_edge >> 9 | up) & high_region
        low |= low_edge
        high |= high_edge
        low_region ^= low_edge
        high_region ^= high_edge
    return int(high) << _HALF | int(low)


def lengths_of(mask: int) -> list[int]:
    """For each bit of a mask of at most 90 bits, ascending, its `bit_length()`. Quick if it is compiled."""
    found: list[int] = []
    for base in (0, _PART, 2 * _PART):
        part: i64 = mask >> base & (1 << _PART) - 1
        while part != 0:
            bit: i64 = part & -part
            part ^= bit
            found.append(base + 1 + _LOGARITHMS[bit % 37])
    return found
